package dev.space.node.pool;

import dev.space.model.Size;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.engine.spi.WaitingVm;
import dev.space.node.templates.StartFiles;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/** One VM that waits for a session. */
sealed interface Entry {

    VmRecord record();

    Path workplace();

    CompletableFuture<VmExit> exit();

    /** Ends the process alone; slot, files and memory are the caller's to give back. */
    void end();

    default boolean isAlive() {
        return !exit().isDone();
    }

    /**
     * What it was made for.
     *
     * @param template digest
     */
    record Kind(String template, Size size, StartFiles start) {}

    record Hot(VmRecord record, Path workplace, VmFiles files, GuestToken token, Kind kind, Vm vm)
            implements Entry {

        @Override
        public CompletableFuture<VmExit> exit() {
            return vm.exit();
        }

        @Override
        public void end() {
            vm.end();
        }
    }

    record Waiting(VmRecord record, Path workplace, VmFiles files, WaitingVm vm) implements Entry {

        @Override
        public CompletableFuture<VmExit> exit() {
            return vm.exit();
        }

        @Override
        public void end() {
            vm.end();
        }
    }
}
