package dev.space.node.sandbox;

import dev.space.model.Size;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.engine.spi.WaitingVm;
import dev.space.node.templates.StartFiles;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * VMs that were made ahead of the sessions that will have them. Whoever takes one owns its slot,
 * its files and its memory from then on, and ends it when it is of no use.
 */
public interface ReadyVms {

    /** Nothing is made ahead. */
    ReadyVms NONE =
            new ReadyVms() {
                @Override
                public @Nullable Hot takeHot(String template, Size size, StartFiles start) {
                    return null;
                }

                @Override
                public @Nullable Waiting takeWaiting(String bundle, Size size) {
                    return null;
                }

                @Override
                public boolean giveUpOne() {
                    return false;
                }

                @Override
                public Busy busy() {
                    return () -> {};
                }
            };

    /**
     * A stopped VM that has run a command.
     *
     * @param record names no session that there is
     * @param workplace directory that its files lie in until they are moved
     * @param token what its guest accepts
     */
    record Hot(VmRecord record, Path workplace, VmFiles files, GuestToken token, Vm vm) {}

    /** A VMM that waits for memory to load, with empty files. */
    record Waiting(VmRecord record, Path workplace, VmFiles files, WaitingVm vm) {}

    /** Until it is closed a request is being served, and nothing is made ahead. */
    interface Busy extends AutoCloseable {
        @Override
        void close();
    }

    /** One that was made from exactly this start snapshot; null when there is none. */
    @Nullable Hot takeHot(String template, Size size, StartFiles start);

    /** Null when there is none. */
    @Nullable Waiting takeWaiting(String bundle, Size size);

    /** Ends one to make room for a session; false when there is none. */
    boolean giveUpOne();

    Busy busy();
}
