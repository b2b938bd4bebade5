/**
 * Keeps guests from driving the node's disk to its end. Their memory and disks lie there, and a
 * page that finds no place kills its VM, whoever took the space.
 */
@NullMarked
package dev.space.node.guard;

import org.jspecify.annotations.NullMarked;
