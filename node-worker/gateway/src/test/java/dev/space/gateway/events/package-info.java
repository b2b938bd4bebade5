/** Tests of the gateway's parts. */
@NullMarked
package dev.space.gateway.events;

import org.jspecify.annotations.NullMarked;
