package dev.space.service.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.durable.SnapshotReferences;
import dev.space.model.Ids;
import dev.space.model.SessionId;
import dev.space.store.DurableRows;
import dev.space.store.TemplateRows;
import org.junit.jupiter.api.Test;

/** Rows become what the collector goes by. */
final class ObjectGarbageTest {

    private static final SessionId SESSION =
            new SessionId(Ids.text(SessionId.PREFIX, new byte[Ids.RANDOM_BYTES]));

    @Test
    void aCompleteRowKeepsItsManifest() {
        SnapshotReferences.Reference read =
                ObjectGarbage.reference(
                        new DurableRows.Reference(
                                7, SESSION, "ses_root", true, "key", "digest", null, null));
        assertThat(read.complete()).contains(new SnapshotReferences.ManifestName("key", "digest"));
        assertThat(read.previous()).isEmpty();
        assertThat(read.snapshot()).isEqualTo(7);
        assertThat(read.session()).isEqualTo(SESSION.value());
        assertThat(read.lineage().value()).isEqualTo("ses_root");
    }

    @Test
    void aTemplateIsKeptInTheLineageOfTemplates() {
        String digest = "ab".repeat(32);
        SnapshotReferences.Reference read =
                ObjectGarbage.reference(
                        new TemplateRows.Reference(3, digest, true, "key", "d", null, null));
        assertThat(read.lineage().value()).isEqualTo("templates");
        assertThat(read.session()).isEqualTo(digest);
        assertThat(read.complete()).contains(new SnapshotReferences.ManifestName("key", "d"));
    }

    /** A manifest that was written before the row counts does not make it count. */
    @Test
    void aPendingRowKeepsAllOfItsOwnAndWhatItIsBuiltOn() {
        SnapshotReferences.Reference read =
                ObjectGarbage.reference(
                        new DurableRows.Reference(
                                8, SESSION, "ses_root", false, "mine", "d", "before", "e"));
        assertThat(read.complete()).isEmpty();
        assertThat(read.previous()).contains(new SnapshotReferences.ManifestName("before", "e"));
    }
}
