/** Tests of what crosses the gateway's contract. */
@NullMarked
package dev.space.gatewayapi;

import org.jspecify.annotations.NullMarked;
