package dev.space.durable;

import java.util.List;
import java.util.Optional;

/** What the rows say of uploads: the only ground on which objects are kept or collected. */
@FunctionalInterface
public interface SnapshotReferences {

    /**
     * Every upload that runs or counts now. Read page by page is good enough where later uploads
     * come on later pages; nothing that was there for the whole time of the read may be left out.
     */
    List<Reference> read();

    /** A manifest as a row names it. */
    record ManifestName(String key, String digest) {}

    /**
     * An upload whose row is PENDING or COMPLETE.
     *
     * @param snapshot the number that the upload was made with
     * @param complete the manifest that counts; empty while the row is PENDING
     * @param previous what a PENDING upload is built on, whatever has become of that one's row
     */
    record Reference(
            LineageId lineage,
            String session,
            long snapshot,
            Optional<ManifestName> complete,
            Optional<ManifestName> previous) {}
}
