package dev.space.durable;

import dev.space.nativeabi.Extent;
import dev.space.nativeabi.ExtentMap;
import dev.space.nativeabi.FileSystemType;
import dev.space.nativeabi.SparseFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Where a file's bytes lie on the device. Two files that lie on the same bytes have the same
 * content there, which is known without reading it. It only ever makes things faster: where the
 * file system does not tell, or tells something that could be read in two ways, the bytes are
 * compared.
 */
final class FileMap {

    /** The place is not known, so it is never the same as another. */
    private static final long UNKNOWN = -2;

    private static final long ZEROS = -1;

    /** FIEMAP's "not at a block's start", "inline" and "packed with others". */
    private static final int UNLIKE_A_BLOCK = 0x100 | 0x200 | 0x400;

    private record Segment(long start, long end, long place) {

        /** Where a byte of it lies. */
        long placeOf(long at) {
            return place < 0 ? place : place + (at - start);
        }
    }

    private final Object device;
    private final List<Segment> segments;

    private FileMap(Object device, List<Segment> segments) {
        this.device = device;
        this.segments = segments;
    }

    static FileMap of(Path file) throws IOException {
        long size = Files.size(file);
        // Elsewhere, places of two files may be told of two devices under one device number.
        if (FileSystemType.isBtrfs(file)) {
            List<Segment> first = extents(file, size);
            // A balance may move bytes; what stands still between two looks was true.
            if (first.equals(extents(file, size))) {
                return new FileMap(Files.getAttribute(file, "unix:dev"), first);
            }
        }
        return new FileMap(new Object(), data(file, size));
    }

    private static List<Segment> extents(Path file, long size) throws IOException {
        List<Segment> segments = new ArrayList<>();
        long at = 0;
        for (Extent extent : ExtentMap.of(file)) {
            long start = Math.max(at, extent.logical());
            long end = Math.min(size, extent.logical() + extent.length());
            if (start >= end) {
                continue;
            }
            if (start > at) {
                segments.add(new Segment(at, start, ZEROS));
            }
            segments.add(new Segment(start, end, place(extent, start)));
            at = end;
        }
        segments.add(new Segment(at, Long.MAX_VALUE, ZEROS));
        return segments;
    }

    private static long place(Extent extent, long start) {
        if (extent.has(Extent.UNWRITTEN)) {
            return ZEROS;
        }
        boolean unclear =
                extent.has(Extent.UNKNOWN)
                        || extent.has(Extent.DELALLOC)
                        || extent.has(Extent.ENCODED)
                        || (extent.flags() & UNLIKE_A_BLOCK) != 0;
        return unclear ? UNKNOWN : extent.physical() + (start - extent.logical());
    }

    private static List<Segment> data(Path file, long size) throws IOException {
        List<Segment> segments = new ArrayList<>();
        long at = 0;
        for (SparseFile.Range range : SparseFile.dataRanges(file)) {
            if (range.offset() > at) {
                segments.add(new Segment(at, range.offset(), ZEROS));
            }
            at = Math.min(size, range.offset() + range.length());
            segments.add(new Segment(range.offset(), at, UNKNOWN));
        }
        segments.add(new Segment(at, Long.MAX_VALUE, ZEROS));
        return segments;
    }

    /** True when the range has no bytes of its own; false where that is not known. */
    boolean isZero(long from, long to) {
        for (int i = find(from); i < segments.size() && segments.get(i).start() < to; i++) {
            if (segments.get(i).place() != ZEROS) {
                return false;
            }
        }
        return true;
    }

    /** True when both files have the same bytes there for certain; beyond its end one has zeros. */
    boolean isSame(FileMap other, long from, long to) {
        if (!device.equals(other.device)) {
            return isZero(from, to) && other.isZero(from, to);
        }
        int i = find(from);
        int j = other.find(from);
        long at = from;
        while (at < to) {
            Segment mine = segments.get(i);
            Segment theirs = other.segments.get(j);
            long place = mine.placeOf(at);
            if (place == UNKNOWN || place != theirs.placeOf(at)) {
                return false;
            }
            at = Math.min(mine.end(), theirs.end());
            i += mine.end() == at ? 1 : 0;
            j += theirs.end() == at ? 1 : 0;
        }
        return true;
    }

    /** The segment that holds a byte; segments leave no gap and the last one has no end. */
    private int find(long at) {
        int low = 0;
        int high = segments.size() - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (segments.get(middle).end() <= at) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
