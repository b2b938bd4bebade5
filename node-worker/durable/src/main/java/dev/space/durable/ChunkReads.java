package dev.space.durable;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Which ranges of which packs hold a snapshot's chunks, joined so that requests are few. */
final class ChunkReads {

    /** What lies between two wanted chunks is read along when it is not longer. */
    private static final int GAP_BYTES_MAX = 2 * Format.CHUNK_BYTES;

    /** One place that a chunk goes to. */
    record Target(Manifest.File file, int index, ChunkRef chunk) {

        @Override
        public String toString() {
            return "chunk " + chunk.id() + " (" + file.path() + ", number " + index + ")";
        }
    }

    /** A range of one pack; its targets in the order of their offset. */
    record Range(Manifest.Pack pack, int start, int end, List<Target> targets) {

        int length() {
            return end - start;
        }
    }

    private ChunkReads() {}

    static List<Range> of(Manifest manifest) {
        List<Target> all = new ArrayList<>();
        for (Manifest.Entry entry : manifest.entries()) {
            if (entry instanceof Manifest.File file) {
                for (Manifest.Part part : file.parts()) {
                    ChunkRef chunk = part.chunk();
                    if (chunk != null) {
                        all.add(new Target(file, part.index(), chunk));
                    }
                }
            }
        }
        all.sort(
                Comparator.comparingInt((Target t) -> t.chunk().pack())
                        .thenComparingInt(t -> t.chunk().offset()));
        List<Range> ranges = new ArrayList<>();
        int from = 0;
        for (int i = 1; i <= all.size(); i++) {
            if (i == all.size() || !joins(all.get(i - 1).chunk(), all.get(i).chunk())) {
                ranges.add(range(manifest, all.subList(from, i)));
                from = i;
            }
        }
        return ranges;
    }

    private static boolean joins(ChunkRef last, ChunkRef next) {
        return last.pack() == next.pack()
                && next.offset() - (last.offset() + last.sealed()) <= GAP_BYTES_MAX;
    }

    private static Range range(Manifest manifest, List<Target> targets) {
        ChunkRef first = targets.getFirst().chunk();
        int end = 0;
        for (Target target : targets) {
            end = Math.max(end, target.chunk().offset() + target.chunk().sealed());
        }
        return new Range(
                manifest.packs().get(first.pack()), first.offset(), end, List.copyOf(targets));
    }
}
