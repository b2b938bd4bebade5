/** The reconciler: compares what is wanted, what is recorded and what runs, and repairs. */
@NullMarked
package dev.space.service.repair;

import org.jspecify.annotations.NullMarked;
