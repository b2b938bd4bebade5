/**
 * The benchmarks behind {@code ./space bench NAME}. Each measures the platform through its API and,
 * in the same run, the floor beneath it: what the same machine needs for the bare work without the
 * platform. Results are lines of JSON or of text on standard output.
 */
@NullMarked
package dev.space.bench;

import org.jspecify.annotations.NullMarked;
