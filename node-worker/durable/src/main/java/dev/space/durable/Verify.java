package dev.space.durable;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;

/** One check: reads everything that the snapshot needs and goes on after a fault. */
final class Verify {

    /** More faults than this are not listed one by one. */
    private static final int FAULTS_MAX = 100;

    private final S3DurableStore.Parts parts;
    private final LineageId lineage;
    private final LineageKeys keys;
    private final TransferControl control;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong chunks = new AtomicLong();
    private final Set<String> faults = new TreeSet<>();
    private boolean more;

    Verify(
            S3DurableStore.Parts parts,
            LineageId lineage,
            LineageKeys keys,
            TransferControl control) {
        this.parts = parts;
        this.lineage = lineage;
        this.keys = keys;
        this.control = control;
    }

    Verification run(DurableSnapshot snapshot) {
        Manifest manifest;
        try {
            manifest = ManifestObjects.require(parts.store(), snapshot, keys);
        } catch (SpaceException e) {
            if (e.code() != ErrorCode.SNAPSHOT_CORRUPT) {
                throw e;
            }
            return new Verification(0, 0, 0, List.of(String.valueOf(e.getMessage())));
        }
        Transfers transfers = new Transfers(parts.executor(), control);
        try {
            read(manifest, transfers);
        } finally {
            transfers.drain();
        }
        return new Verification(manifest.packs().size(), chunks.get(), bytes.get(), told());
    }

    private void read(Manifest manifest, Transfers transfers) {
        List<ChunkReads.Range> ranges = ChunkReads.of(manifest);
        long total = ranges.stream().mapToLong(ChunkReads.Range::length).sum();
        for (ChunkReads.Range range : ranges) {
            if (transfers.isOver()) {
                break;
            }
            byte[] buffer = parts.buffers().take(control);
            transfers.start(() -> {
                try {
                    check(range, buffer);
                    control.progress(bytes.addAndGet(range.length()), total);
                } finally {
                    parts.buffers().give();
                }
            });
        }
        transfers.await();
        Transfers.checkCancelled(control);
    }

    private void check(ChunkReads.Range range, byte[] buffer) {
        String key = range.pack().key(lineage);
        String fault = PackReader.read(parts.store(), key, range, buffer);
        if (fault != null) {
            add(fault);
            return;
        }
        try {
            PackReader.open(
                    new ChunkSealer(keys),
                    key,
                    range,
                    buffer,
                    (target, content) -> chunks.incrementAndGet(),
                    this::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private synchronized void add(String fault) {
        more |= faults.size() >= FAULTS_MAX;
        if (!more) {
            faults.add(fault);
        }
    }

    private synchronized List<String> told() {
        List<String> all = new ArrayList<>(faults);
        if (more) {
            all.add("and more");
        }
        return all;
    }
}
