/** The packaged control plane against a real PostgreSQL, a real Temporal and a node without VMs. */
@NullMarked
package dev.space.app;

import org.jspecify.annotations.NullMarked;
