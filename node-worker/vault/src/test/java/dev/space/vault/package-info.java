/** A real OpenBao server, and what the platform does when it is not well. */
@NullMarked
package dev.space.vault;

import org.jspecify.annotations.NullMarked;
