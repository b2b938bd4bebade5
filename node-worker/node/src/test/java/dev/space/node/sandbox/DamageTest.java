package dev.space.node.sandbox;

import static dev.space.node.sandbox.TestNode.SESSION;
import static dev.space.node.sandbox.TestNode.ref;
import static dev.space.node.sandbox.TestNode.snapshot;
import static dev.space.node.sandbox.TestNode.start;
import static dev.space.node.sandbox.TestNode.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.contract.node.DownloadSnapshot;
import dev.space.contract.node.SnapshotUploaded;
import dev.space.contract.node.StartSandbox;
import dev.space.contract.node.UploadSnapshot;
import dev.space.contract.session.DurableRef;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.ErrorCode;
import dev.space.model.Instead;
import dev.space.model.Size;
import dev.space.model.SnapshotKind;
import dev.space.model.SpaceException;
import dev.space.node.templates.FakeTemplates;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A snapshot whose files are not what they were: named, never started from, another offered. */
final class DamageTest {

    @TempDir Path directory;
    private TestNode node;

    @BeforeEach
    void twoSnapshotsAndAPause() {
        node = new TestNode(directory.resolve("a"), new DirectoryStore(directory.resolve("s")));
        node.manager().start(start(ref(1, 1, 1, 1), null));
        node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1)));
        node.manager().checkpoint(take(ref(3, 1, 3, 1), snapshot(2)));
        node.manager().pause(take(ref(4, 1, 4, 1), snapshot(3)));
    }

    private Path file(int snapshot, String name) {
        return node.snapshots().directory(SESSION, snapshot(snapshot)).resolve(name);
    }

    /** What a careless hand, a bad copy or a lost block does to a file. */
    private void damage(int snapshot, String name, String how) {
        Path file = file(snapshot, name);
        try (FileChannel open = FileChannel.open(file, StandardOpenOption.WRITE)) {
            switch (how) {
                case "cut" -> open.truncate(open.size() / 2);
                case "longer" -> open.write(ByteBuffer.wrap(new byte[1]), open.size());
                case "written" -> open.write(ByteBuffer.wrap(new byte[] {42}), 0);
                case "removed" -> Files.delete(file);
                default -> throw new IllegalArgumentException(how);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String refusal(int snapshot) {
        String[] said = new String[1];
        assertThatThrownBy(() -> node.manager().start(start(ref(9, 2, 9, 1), snapshot(snapshot))))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> {
                            assertThat(e.code()).isEqualTo(ErrorCode.SNAPSHOT_CORRUPT);
                            said[0] = String.valueOf(e.getMessage());
                        });
        assertThat(node.state()).as("nothing runs of it").isEqualTo("NONE");
        return said[0];
    }

    @ParameterizedTest
    @CsvSource({
        "disk, cut",
        "disk, longer",
        "disk, written",
        "disk, removed",
        "ram, cut",
        "ram, longer",
        "ram, written",
        "ram, removed",
        "device, longer",
        "device, written",
        "device, removed",
        "manifest.json, cut",
        "manifest.json, longer",
        "manifest.json, written",
        "manifest.json, removed"
    })
    void eachDamageIsNamedAndTheNewestGoodOneOffered(String name, String how) {
        damage(3, name, how);
        assertThat(refusal(3))
                .contains(snapshot(3).value(), "its file " + name)
                .endsWith(Instead.checked(snapshot(2)));
        node.restart();
        assertThat(refusal(3)).as("after a restart").contains("its file " + name);
        node.manager().start(start(ref(10, 3, 10, 1), snapshot(2)));
        assertThat(node.state()).isEqualTo("RUNNING");
    }

    @Test
    void whatIsOfferedIsGoodItself() {
        damage(3, "ram", "written");
        damage(2, "disk", "cut");
        assertThat(refusal(3)).endsWith(Instead.checked(snapshot(1)));
        damage(1, "device", "removed");
        assertThat(refusal(3)).as("nothing is left to offer").doesNotContain("good snapshot");
    }

    @Test
    void aRecoveryGoesByWhatIsDamaged() {
        damage(3, "ram", "cut");
        StartSandbox newest =
                new StartSandbox(
                        ref(9, 2, 9, 1),
                        FakeTemplates.DEFAULT_DIGEST,
                        Size.XS,
                        snapshot(3),
                        null,
                        "box",
                        5,
                        true);
        var started = node.manager().start(newest);
        assertThat(Objects.requireNonNull(started.source()).snapshot()).isEqualTo(snapshot(2));
    }

    @Test
    void whatIsDamagedHereIsNotStoredAndFetchedAnewWhereItWas() {
        var up = upload(1);
        damage(3, "ram", "written");
        assertThatThrownBy(() -> upload(2)).hasMessageContaining("its file ram was written");
        DurableRef stored =
                new DurableRef(
                        new SnapshotRef(snapshot(3), SnapshotKind.FULL, "a", 1, 3, 1, 1),
                        "ses_x",
                        up.manifestKey(),
                        up.manifestDigest(),
                        up.bytesStored(),
                        up.bytesUploaded(),
                        up.bytesLogical());
        var there =
                node.manager()
                        .download(
                                new DownloadSnapshot(
                                        ref(6, 2, 6, 1),
                                        stored,
                                        FakeTemplates.DEFAULT_DIGEST,
                                        Size.XS),
                                (_, _) -> {});
        assertThat(there.snapshot()).isEqualTo(snapshot(3));
        node.manager().start(start(ref(6, 2, 6, 2), snapshot(3)));
        assertThat(node.state()).isEqualTo("RUNNING");
    }

    private SnapshotUploaded upload(long number) {
        return node.manager()
                .upload(
                        new UploadSnapshot(
                                ref(5, 1, 5, number), snapshot(3), 7, "ses_x", null, false),
                        (_, _) -> {});
    }
}
