/** An engine without a VM: same contract, in-memory guests, and a seeded plan of faults. */
@NullMarked
package dev.space.node.engine.fake;

import org.jspecify.annotations.NullMarked;
