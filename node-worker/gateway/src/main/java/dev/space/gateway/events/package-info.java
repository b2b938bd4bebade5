/** Audit records on their way to node-worker: a bounded queue with numbers and gaps. */
@NullMarked
package dev.space.gateway.events;

import org.jspecify.annotations.NullMarked;
