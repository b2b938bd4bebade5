/** Tests of the node's own schedule that need no sandbox. */
@NullMarked
package dev.space.node.rolling;

import org.jspecify.annotations.NullMarked;
