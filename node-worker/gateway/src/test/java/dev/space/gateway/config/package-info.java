/** Tests of the gateway's parts. */
@NullMarked
package dev.space.gateway.config;

import org.jspecify.annotations.NullMarked;
