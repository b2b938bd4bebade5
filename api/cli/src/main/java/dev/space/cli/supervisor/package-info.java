/**
 * The background process of {@code up}: starts, adopts, watches and stops every process of the
 * embedded default. It takes no requests; it is told to stop by a signal and tells its state in a
 * file.
 */
@NullMarked
package dev.space.cli.supervisor;

import org.jspecify.annotations.NullMarked;
