package dev.space.node.volumes;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.space.contract.node.SnapshotTaken;
import dev.space.model.Size;
import dev.space.model.SnapshotReason;
import dev.space.node.egress.SyntheticAddress;
import dev.space.node.engine.spi.GuestToken;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a snapshot directory says of itself. Written last before the directory gets its name; a
 * directory without a complete one does not exist for anybody. Holds the guest's token, hence 0600.
 *
 * @param template digest of the template the disk grew from
 * @param bundle engine bundle its memory needs; empty when the engine has none
 * @param token what the guest accepts when its memory is loaded; null in a disk snapshot
 * @param reason why it was made; null in one of a release that did not say
 * @param mark what the guest had done by then; only where the node made it by itself
 * @param addresses what its memory may know names by; null where it has none
 * @param files how its files were when it got its name; null in one of a release that did not say
 */
public record SnapshotManifest(
        SnapshotTaken taken,
        String operation,
        String template,
        Size size,
        String engine,
        String bundle,
        @Nullable GuestToken token,
        @Nullable SnapshotReason reason,
        @Nullable ChangeMark mark,
        @Nullable List<SyntheticAddress> addresses,
        @Nullable List<FileSeal> files) {

    public static final String FILE = "manifest.json";

    SnapshotManifest sealed(List<FileSeal> seals) {
        return new SnapshotManifest(
                taken,
                operation,
                template,
                size,
                engine,
                bundle,
                token,
                reason,
                mark,
                addresses,
                List.copyOf(seals));
    }

    /** True when the node made it by itself and may remove it by itself. */
    @JsonIgnore
    public boolean isRolling() {
        return reason == SnapshotReason.ROLLING;
    }
}
