/** What the command line of the benchmarks promises. */
@NullMarked
package dev.space.bench;

import org.jspecify.annotations.NullMarked;
