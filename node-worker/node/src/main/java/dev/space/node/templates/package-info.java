/** Templates on the node: import and start snapshots, made once whoever asks. */
@NullMarked
package dev.space.node.templates;

import org.jspecify.annotations.NullMarked;
