package dev.space.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class InsteadTest {

    private static final SnapshotId GOOD =
            new SnapshotId(Ids.text(SnapshotId.PREFIX, new byte[Ids.RANDOM_BYTES]));

    @Test
    void whatIsOfferedIsFoundInTheSentence() {
        for (String offer : new String[] {Instead.checked(GOOD), Instead.stored(GOOD)}) {
            assertThat(Instead.offered(ErrorCode.SNAPSHOT_CORRUPT, "ram is gone; " + offer))
                    .contains(GOOD);
        }
    }

    @Test
    void nothingElseOffersAnything() {
        assertThat(Instead.offered(ErrorCode.SNAPSHOT_CORRUPT, "damaged: " + GOOD)).isEmpty();
        assertThat(Instead.offered(ErrorCode.INTERNAL, Instead.checked(GOOD))).isEmpty();
    }
}
