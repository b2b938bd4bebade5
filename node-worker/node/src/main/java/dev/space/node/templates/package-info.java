/**
 * Templates on the node: import, start snapshots made once whoever asks, and the exchange of
 * templates with other nodes through the object store.
 */
@NullMarked
package dev.space.node.templates;

import org.jspecify.annotations.NullMarked;
