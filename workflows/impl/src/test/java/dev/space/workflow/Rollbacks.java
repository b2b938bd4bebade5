package dev.space.workflow;

import dev.space.model.Command;
import dev.space.model.OperationId;
import dev.space.model.SnapshotId;

/** Rollbacks as the API asks for them: the row names where each goes. */
final class Rollbacks {

    private Rollbacks() {}

    static OperationId request(
            World world, World.Session session, SnapshotId target, boolean acceptLoss) {
        OperationId operation = session.request(Command.ROLLBACK);
        world.store.operation(operation).snapshot = target;
        world.store.operation(operation).acceptLoss = acceptLoss;
        return operation;
    }

    /** Sends one and waits until its row has ended. */
    static OperationId run(
            World world, World.Session session, SnapshotId target, boolean acceptLoss) {
        OperationId operation = request(world, session, target, acceptLoss);
        session.submit(operation, Command.ROLLBACK, null);
        session.await(operation);
        return operation;
    }
}
