/** Tests of the gateway's parts. */
@NullMarked
package dev.space.gateway.dns;

import org.jspecify.annotations.NullMarked;
