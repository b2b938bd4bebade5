/** The door for node-worker: a unix socket that serves one uid, and the calls of the contract. */
@NullMarked
package dev.space.gateway.control;

import org.jspecify.annotations.NullMarked;
