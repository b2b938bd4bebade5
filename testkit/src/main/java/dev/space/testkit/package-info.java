/**
 * Fakes that behave. A fake node keeps fences, VMs and snapshots; the fake store makes the
 * conditional writes; faults delay, double and lose calls and answers by a seed.
 */
@NullMarked
package dev.space.testkit;

import org.jspecify.annotations.NullMarked;
