/**
 * The node's own schedule of snapshots and their retention: what is taken when something changed,
 * and what goes when it is old. Not part of the lifecycle; it yields to every step of it.
 */
@NullMarked
package dev.space.node.rolling;

import org.jspecify.annotations.NullMarked;
