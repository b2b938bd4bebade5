package dev.space.node.volumes;

import dev.space.contract.node.SnapshotTaken;
import dev.space.model.Size;
import dev.space.node.engine.spi.GuestToken;
import org.jspecify.annotations.Nullable;

/**
 * What a snapshot directory says of itself. Written last before the directory gets its name; a
 * directory without a complete one does not exist for anybody. Holds the guest's token, hence 0600.
 *
 * @param template digest of the template the disk grew from
 * @param bundle engine bundle its memory needs; empty when the engine has none
 * @param token what the guest accepts when its memory is loaded; null in a disk snapshot
 */
public record SnapshotManifest(
        SnapshotTaken taken,
        String operation,
        String template,
        Size size,
        String engine,
        String bundle,
        @Nullable GuestToken token) {

    public static final String FILE = "manifest.json";
}
