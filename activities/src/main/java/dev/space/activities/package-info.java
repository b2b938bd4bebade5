/**
 * Side effects of the control plane as Temporal activities: the session's rows, placement, and
 * short steps that go straight to a node. Every one is idempotent and fenced; none decides what a
 * command means.
 */
@NullMarked
package dev.space.activities;

import org.jspecify.annotations.NullMarked;
