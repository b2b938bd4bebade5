/** Tests of the gateway's parts. */
@NullMarked
package dev.space.gateway.slot;

import org.jspecify.annotations.NullMarked;
