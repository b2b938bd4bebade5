package dev.space.node.app;

import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.node.engine.spi.VmHold;
import dev.space.node.guard.Guarded;
import dev.space.node.sandbox.Sandbox;
import dev.space.node.volumes.StorageUse;
import dev.space.node.volumes.Volume;

/** A sandbox of this node for its disk guard. */
record GuardedSandbox(Sandbox sandbox, Volume volume) implements Guarded {

    @Override
    public SessionId session() {
        return sandbox.session();
    }

    @Override
    public Fence start() {
        return sandbox.start();
    }

    @Override
    public long ownBytes() {
        return StorageUse.live(volume, session()).exclusiveBytes();
    }

    @Override
    public VmHold held() {
        return sandbox.vm().held();
    }
}
