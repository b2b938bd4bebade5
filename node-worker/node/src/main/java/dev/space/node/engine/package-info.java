/** Engines drive virtual machines; each has its own package and none knows sessions' history. */
@NullMarked
package dev.space.node.engine;

import org.jspecify.annotations.NullMarked;
