/**
 * What {@code ./space bench gateway} measures with: a client in a network namespace that stands for
 * a sandbox, the gateway's own process with sockets born there, a server outside, and mitmproxy for
 * comparison. Each is a process of its own.
 */
@NullMarked
package dev.space.bench.gateway;

import org.jspecify.annotations.NullMarked;
