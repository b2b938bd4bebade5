/** The lifecycle steps of a node as activities on its own task queue. */
@NullMarked
package dev.space.contract.node;

import org.jspecify.annotations.NullMarked;
