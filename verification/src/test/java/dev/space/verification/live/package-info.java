/**
 * The real platform under test: started by the real command, used through the API, killed process
 * by process, and counted afterwards. Needs root and QEMU; elsewhere the tests say so and skip.
 */
@NullMarked
package dev.space.verification.live;

import org.jspecify.annotations.NullMarked;
