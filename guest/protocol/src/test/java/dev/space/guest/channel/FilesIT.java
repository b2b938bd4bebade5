package dev.space.guest.channel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import dev.space.guest.protocol.FileInfo;
import dev.space.guest.protocol.FileKind;
import dev.space.guest.protocol.FilePath;
import dev.space.guest.protocol.StartProcess;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Files through the channel, by the real daemon, as the user nobody. */
final class FilesIT {

    @SuppressWarnings("NullAway.Init")
    private LiveDaemon daemon;

    @SuppressWarnings("NullAway.Init")
    private GuestChannel channel;

    @SuppressWarnings("NullAway.Init")
    private GuestFiles files;

    @SuppressWarnings("NullAway.Init")
    private Path home;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        daemon = LiveDaemon.start();
        channel = daemon.open();
        files = new GuestFiles(channel, LiveDaemon.TIMEOUT);
        home = daemon.home();
    }

    @AfterEach
    void stop() throws IOException {
        // Not started when the test was skipped.
        if (channel != null) {
            channel.close();
            daemon.close();
        }
    }

    private FilePath path(String name) {
        return path(ByteString.copyFromUtf8(home.resolve(name).toString()));
    }

    private static FilePath path(ByteString path) {
        return FilePath.newBuilder().setPath(path).setUser("nobody").build();
    }

    private FileInfo write(FilePath path, byte[] content, int mode) {
        try (var writer = files.write(path, mode, false)) {
            writer.write(ByteBuffer.wrap(content));
            return writer.commit();
        }
    }

    private byte[] read(FilePath path, long offset, long length) {
        try (var reader = files.read(path, offset, length)) {
            var all = new ByteArrayOutputStream();
            for (var data = reader.read(); data != null; data = reader.read()) {
                all.writeBytes(data);
            }
            return all.toByteArray();
        }
    }

    private static void refused(ErrorCode code, ThrowingCallable call) {
        assertThatExceptionOfType(SpaceException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }

    @Test
    void whatIsWrittenIsReadBackAndBelongsToTheUser() throws IOException {
        var info = write(path("a"), "content".getBytes(UTF_8), 0);
        assertThat(info.getOwner()).isEqualTo("nobody");
        assertThat(info.getMode()).isEqualTo(0644);
        assertThat(info.getKind()).isEqualTo(FileKind.FILE_KIND_FILE);
        assertThat(info.getName().toStringUtf8()).isEqualTo("a");
        assertThat(read(path("a"), 0, -1)).isEqualTo("content".getBytes(UTF_8));
        assertThat(read(path("a"), 2, 3)).isEqualTo("nte".getBytes(UTF_8));
        assertThat(read(path("a"), 7, -1)).isEmpty();
        refused(ErrorCode.RANGE_NOT_SATISFIABLE, () -> read(path("a"), 8, -1));
        assertThat(Files.getAttribute(home.resolve("a"), "unix:uid"))
                .isEqualTo(LiveDaemon.uidOfNobody());
    }

    @Test
    void bigFilesGoThroughSmallWindows() {
        var content = new byte[20 << 20];
        new Random(1).nextBytes(content);
        assertThat(write(path("big"), content, 0600).getSize()).isEqualTo(content.length);
        assertThat(read(path("big"), 0, -1)).isEqualTo(content);
    }

    @Test
    void aWriteThatIsNotCommittedLeavesNothing() throws IOException {
        write(path("kept"), "old".getBytes(UTF_8), 0640);
        try (var writer = files.write(path("kept"), 0, false)) {
            writer.write(ByteBuffer.wrap(new byte[1 << 20]));
        }
        var deadline = System.nanoTime() + LiveDaemon.TIMEOUT.toNanos();
        while (names(path(home.toString())).size() > 1) {
            assertThat(System.nanoTime()).as("the temporary file goes").isLessThan(deadline);
        }
        assertThat(Files.readString(home.resolve("kept"), UTF_8)).isEqualTo("old");
        var info = write(path("kept"), "new".getBytes(UTF_8), 0);
        assertThat(info.getMode()).as("the mode of what it replaces").isEqualTo(0640);
    }

    private List<ByteString> names(FilePath directory) {
        var names = new ArrayList<ByteString>();
        files.list(directory, part -> part.forEach(info -> names.add(info.getName())));
        return names;
    }

    @Test
    void anyBytesButNulMakeAName() {
        var odd = ByteString.copyFrom(new byte[] {'x', (byte) 0xff, '\n', 1, (byte) 0xc3});
        var whole = ByteString.copyFromUtf8(home + "/").concat(odd);
        write(path(whole), new byte[1], 0);
        assertThat(names(path(home.toString()))).containsExactly(odd);
        assertThat(files.stat(path(whole)).getSize()).isEqualTo(1);
        files.remove(path(whole), false);
        refused(ErrorCode.FILE_NOT_FOUND, () -> files.stat(path(whole)));
        refused(
                ErrorCode.INVALID_ARGUMENT,
                () -> files.stat(path(ByteString.copyFrom(new byte[] {'/', 0}))));
        refused(ErrorCode.INVALID_ARGUMENT, () -> files.stat(path(ByteString.EMPTY)));
    }

    @Test
    void directoriesAreMadeListedAndRemoved() {
        refused(ErrorCode.FILE_NOT_FOUND, () -> files.makeDirectory(path("a/b/c"), false, 0));
        assertThat(files.makeDirectory(path("a/b/c"), true, 0700).getMode()).isEqualTo(0700);
        assertThat(files.makeDirectory(path("a/b/c"), true, 0).getKind())
                .isEqualTo(FileKind.FILE_KIND_DIRECTORY);
        refused(ErrorCode.ALREADY_EXISTS, () -> files.makeDirectory(path("a/b"), false, 0));
        for (var i = 0; i < 500; i++) {
            write(path("a/b/c/" + "n".repeat(200) + i), new byte[0], 0);
        }
        assertThat(names(path("a/b/c"))).hasSize(500);
        refused(ErrorCode.FILE_CONFLICT, () -> files.remove(path("a"), false));
        refused(ErrorCode.FILE_CONFLICT, () -> read(path("a"), 0, -1));
        refused(ErrorCode.FILE_CONFLICT, () -> write(path("a"), new byte[0], 0));
        files.remove(path("a"), true);
        refused(ErrorCode.FILE_NOT_FOUND, () -> files.stat(path("a")));
    }

    @Test
    void theUserMayDoNoMoreThanItsOwnProcesses() throws IOException {
        var secret = home.resolveSibling("secret");
        Files.writeString(secret, "root's", UTF_8);
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        Files.createSymbolicLink(home.resolve("link"), secret);
        refused(ErrorCode.FILE_FORBIDDEN, () -> read(path("link"), 0, -1));
        refused(ErrorCode.FILE_FORBIDDEN, () -> read(path("../secret"), 0, -1));
        refused(ErrorCode.FILE_FORBIDDEN, () -> write(path("../other"), new byte[1], 0));
        refused(ErrorCode.FILE_FORBIDDEN, () -> files.remove(path("../secret"), false));
        var link = files.stat(path("link"));
        assertThat(link.getKind()).isEqualTo(FileKind.FILE_KIND_SYMLINK);
        assertThat(link.getSymlinkTarget().toStringUtf8()).isEqualTo(secret.toString());
    }

    @Test
    void aFifoOrDeviceHoldsNobodyUp() throws IOException {
        LiveDaemon.run("mkfifo", "-m", "666", home.resolve("fifo").toString());
        refused(ErrorCode.FILE_CONFLICT, () -> read(path("fifo"), 0, -1));
        refused(ErrorCode.FILE_CONFLICT, () -> write(path("fifo"), new byte[1], 0));
        refused(ErrorCode.FILE_CONFLICT, () -> read(path("/dev/zero"), 0, -1));
    }

    @Test
    void aFullDiskIsToldAsSuch() throws IOException {
        // Mounted by a process of the daemon, in the daemon's mount namespace.
        var full = Files.createDirectory(home.resolve("full"));
        var client = new GuestClient(channel, LiveDaemon.TIMEOUT);
        var command = "mount -t tmpfs -o size=64k,mode=777 none " + full;
        client.start(
                StartProcess.newBuilder()
                        .setId("mount")
                        .setCommand(ByteString.copyFromUtf8(command))
                        .build());
        assertThat(client.get("mount", LiveDaemon.TIMEOUT, true).getExitCode()).isZero();
        var inside = path(full.resolve("f").toString());
        refused(ErrorCode.GUEST_DISK_FULL, () -> write(inside, new byte[1 << 20], 0));
        assertThat(names(path(full.toString()))).as("nothing is left").isEmpty();
    }
}
