package dev.space.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.node.browse.Disks;
import dev.space.node.engine.spi.GuestPath;
import dev.space.node.templates.FakeTemplates;
import dev.space.node.volumes.CopyCloner;
import dev.space.node.volumes.Volume;
import java.nio.file.Files;
import java.nio.file.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which disk is looked into, and that nothing is left of the clone. */
final class DisksTest {

    @TempDir Path directory;
    private TestNode node;
    private Volume volume;
    private Disks disks;

    @BeforeEach
    void open() {
        node = new TestNode(directory);
        volume = new Volume(directory.resolve("main"), new CopyCloner(), 0);
        disks = new Disks(node.manager(), node.snapshots(), new FakeTemplates(volume), volume);
    }

    private void makeDirectory(String path) {
        var _ =
                node.manager()
                        .running(TestNode.SESSION, 1)
                        .guest()
                        .makeDirectory(new GuestPath(ByteString.copyFromUtf8(path), ""), false, 0);
    }

    private static void assertMissing(ThrowingCallable call) {
        assertThatThrownBy(call)
                .extracting(e -> ((SpaceException) e).code())
                .isEqualTo(ErrorCode.SNAPSHOT_NOT_FOUND);
    }

    @Test
    void nowIsTheRunningDiskAndThenTheOneItWouldGoOnFrom() throws Exception {
        node.manager().start(TestNode.start(TestNode.ref(1, 1, 1, 1), null));
        makeDirectory("/home/user/only-in-memory");
        Path image;
        try (Disks.Disk disk = disks.now(TestNode.SESSION)) {
            image = disk.image();
            assertThat(image).startsWith(volume.staging());
            assertThat(Files.readString(image)).contains("only-in-memory");
        }
        assertThat(image).doesNotExist();
        assertThat(Volume.children(volume.staging())).isEmpty();

        var _ = node.manager().pause(TestNode.take(TestNode.ref(2, 1, 2, 1), TestNode.snapshot(1)));
        Path kept =
                node.snapshots().directory(TestNode.SESSION, TestNode.snapshot(1)).resolve("disk");
        try (Disks.Disk disk = disks.now(TestNode.SESSION)) {
            assertThat(disk.image()).isEqualTo(kept);
        }
        try (Disks.Disk disk = disks.snapshot(TestNode.SESSION, TestNode.snapshot(1))) {
            assertThat(disk.image()).isEqualTo(kept);
        }
        assertThat(kept).exists();
    }

    @Test
    void aCloneOfANodeThatWasKilledWhileItLookedIsGoneAfterTheNextStart() throws Exception {
        node.manager().start(TestNode.start(TestNode.ref(1, 1, 1, 1), null));
        makeDirectory("/home/user/still-here");
        Disks.Disk looked = disks.now(TestNode.SESSION); // never closed
        assertThat(looked.image()).exists();

        node.restart();

        assertThat(looked.image()).doesNotExist();
        assertThat(Volume.children(volume.staging())).isEmpty();
        assertThat(Volume.children(volume.trash())).isEmpty();
        Disks again =
                new Disks(node.manager(), node.snapshots(), new FakeTemplates(volume), volume);
        try (Disks.Disk disk = again.now(TestNode.SESSION)) {
            assertThat(Files.readString(disk.image())).contains("still-here");
        }
    }

    @Test
    void whatIsNotHereIsNotFound() {
        assertMissing(() -> disks.now(TestNode.SESSION));
        assertMissing(() -> disks.snapshot(TestNode.SESSION, TestNode.snapshot(9)));
        assertMissing(() -> disks.template("00".repeat(32), Size.XS));
        try (Disks.Disk disk = disks.template(FakeTemplates.DEFAULT_DIGEST, Size.XS)) {
            assertThat(disk.image()).exists();
        }
    }
}
