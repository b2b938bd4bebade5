/**
 * What node-worker may ask of node-manager, the one privileged process: a closed list of requests
 * with typed replies, their bounded codec, and the client. Every field is checked where it is made
 * and again where it arrives.
 */
@NullMarked
package dev.space.privileged;

import org.jspecify.annotations.NullMarked;
