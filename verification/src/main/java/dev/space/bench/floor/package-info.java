/**
 * What the benchmarks compare with: a bare virtual machine restored from the same start snapshot,
 * and a bare workflow on the same Temporal server. Nothing of the platform's own work is in it.
 */
@NullMarked
package dev.space.bench.floor;

import org.jspecify.annotations.NullMarked;
