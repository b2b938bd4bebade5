/**
 * Processes and their output, files, and the audit record of each action, on top of a running
 * guest.
 */
@NullMarked
package dev.space.node.dataplane;

import org.jspecify.annotations.NullMarked;
