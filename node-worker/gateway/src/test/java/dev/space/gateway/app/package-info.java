/** Tests of the gateway's parts. */
@NullMarked
package dev.space.gateway.app;

import org.jspecify.annotations.NullMarked;
