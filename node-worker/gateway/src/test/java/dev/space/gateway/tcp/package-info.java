/** Tests of the gateway's parts. */
@NullMarked
package dev.space.gateway.tcp;

import org.jspecify.annotations.NullMarked;
