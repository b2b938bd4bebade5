/** The VMM's command line and what its memory needs. */
@NullMarked
package dev.space.node.engine.qemu;

import org.jspecify.annotations.NullMarked;
