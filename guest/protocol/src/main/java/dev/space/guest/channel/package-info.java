/**
 * The host side of the private channel to the daemon in a sandbox: frames, streams with credit, the
 * handshake and the gate that a snapshot needs. Everything that arrives was written by a guest that
 * may be hostile: each length is checked before anything is allocated and each queue is bounded.
 */
@NullMarked
package dev.space.guest.channel;

import org.jspecify.annotations.NullMarked;
