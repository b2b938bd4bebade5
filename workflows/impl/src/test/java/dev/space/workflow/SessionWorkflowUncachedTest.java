package dev.space.workflow;

import dev.space.testkit.Faults;

/** The same life with the sticky cache off: every workflow task replays from the beginning. */
final class SessionWorkflowUncachedTest extends SessionWorkflowTest {

    @Override
    World newWorld() {
        return new World(Faults.none(), 2, false);
    }
}
