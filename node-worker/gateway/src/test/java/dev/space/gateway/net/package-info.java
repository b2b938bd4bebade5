/** Tests of the gateway's parts. */
@NullMarked
package dev.space.gateway.net;

import org.jspecify.annotations.NullMarked;
