/**
 * node-manager: the one privileged process that takes requests. It makes and removes slots, starts
 * VMMs through space-jail and ends them, for one peer uid, from a closed list. It keeps nothing
 * that it cannot find again by looking at the machine.
 */
@NullMarked
package dev.space.manager;

import org.jspecify.annotations.NullMarked;
