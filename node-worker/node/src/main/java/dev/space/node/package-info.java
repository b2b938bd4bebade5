/**
 * The unprivileged node process: it owns the sandboxes of one machine. This package holds the entry
 * only.
 */
@NullMarked
package dev.space.node;

import org.jspecify.annotations.NullMarked;
