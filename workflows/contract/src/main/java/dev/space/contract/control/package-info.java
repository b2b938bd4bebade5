/**
 * Side effects of the control plane that a session's workflow uses: rows, placement, node calls.
 */
@NullMarked
package dev.space.contract.control;

import org.jspecify.annotations.NullMarked;
