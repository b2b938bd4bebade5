/** Tests of injection and scrubbing without a network. */
@NullMarked
package dev.space.gateway.credential;

import org.jspecify.annotations.NullMarked;
