package dev.space.node.dataplane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.node.engine.spi.Guest;
import dev.space.node.engine.spi.GuestProcess;
import dev.space.node.volumes.DurableFiles;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordKeeperTest {

    @TempDir Path directory;

    private final List<String> kept = new CopyOnWriteArrayList<>();
    private final RecordKeeper keeper = new RecordKeeper(process -> kept.add(process.id()));
    private SandboxProcess process;

    @BeforeEach
    void start() {
        process =
                SandboxProcess.fresh(
                        directory.resolve("p"),
                        ProcessMeta.found(state(true, ""), "life"),
                        new SandboxProcess.Events() {
                            @Override
                            public void changed(SandboxProcess changed) {
                                keeper.add(changed);
                            }

                            @Override
                            public void ended(SandboxProcess ended) {
                                keeper.add(ended);
                            }

                            @Override
                            public void detached(SandboxProcess lost) {}
                        });
    }

    private static GuestProcess state(boolean running, String reason) {
        return new GuestProcess("p", 7, running, running ? 0 : 3, 0, reason, "", 1, 2, 0, 0);
    }

    private Path record() {
        return directory.resolve("p").resolve(ProcessMeta.FILE);
    }

    @Test
    void aShortCommandIsWrittenOnceAndThenTheGuestMayForgetIt() throws IOException {
        process.started(state(true, ""));
        process.exited(state(false, "EXITED"));
        assertThat(record()).doesNotExist();

        keeper.flush();

        assertThat(Files.readString(record())).contains("\"exitCode\":3").contains("EXITED");
        assertThat(kept).containsExactly("p");
        Files.delete(record());
        keeper.flush();
        assertThat(record()).doesNotExist();
        assertThat(kept).hasSize(1);
    }

    @Test
    void oneThatRunsIsKeptByTheGuest() throws IOException {
        process.started(state(true, ""));
        keeper.flush();
        assertThat(Files.readString(record())).contains("\"running\":true");
        assertThat(kept).isEmpty();
    }

    @Test
    void oneThatTheGuestLostIsNotForgottenThere() throws IOException {
        process.started(state(true, ""));
        process.lost();
        keeper.flush();
        assertThat(Files.readString(record())).contains("LOST");
        assertThat(kept).isEmpty();
    }

    @Test
    void whatCannotBeWrittenIsWrittenLater() throws IOException {
        Files.writeString(directory.resolve("p"), "in the way");
        process.started(state(true, ""));
        process.exited(state(false, "EXITED"));
        keeper.flush();
        assertThat(kept).isEmpty();

        Files.delete(directory.resolve("p"));
        keeper.flush();
        assertThat(kept).containsExactly("p");
    }

    @Test
    void nothingIsWrittenWhereTheDirectoryIsBeingRemoved() throws IOException {
        process.started(state(true, ""));
        process.close();
        DurableFiles.deleteTree(directory.resolve("p"));
        keeper.flush();
        assertThat(directory.resolve("p")).doesNotExist();
    }

    @Test
    void outputWithoutARecordIsRemovedAtARestartWhereTheGuestDoesNotKnowIt() throws IOException {
        Path unknown = Files.createDirectories(directory.resolve("unknown"));
        Files.writeString(unknown.resolve("stdout.0"), "of a life before");
        process.exited(state(false, "EXITED"));
        keeper.flush();
        Guest empty =
                (Guest)
                        Proxy.newProxyInstance(
                                Guest.class.getClassLoader(),
                                new Class<?>[] {Guest.class},
                                (_, _, _) -> List.of());

        try (ProcessTable table = ProcessTable.open(directory, empty)) {
            assertThat(table.list()).extracting(SandboxProcess::id).containsExactly("p");
        }
        assertThat(unknown).doesNotExist();
        assertThat(record()).exists();
    }
}
