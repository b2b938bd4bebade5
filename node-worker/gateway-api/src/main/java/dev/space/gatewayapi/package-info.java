/**
 * What node-worker and the gateway share: how errors of the catalogue travel, and the channel over
 * the gateway's unix socket.
 */
@NullMarked
package dev.space.gatewayapi;

import org.jspecify.annotations.NullMarked;
