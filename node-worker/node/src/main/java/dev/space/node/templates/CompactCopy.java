package dev.space.node.templates;

import dev.space.nativeabi.SparseFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Copies a file so that its clones are cheap: zeros become holes, the rest is written in large
 * pieces. The cost of a clone follows the number of extents.
 */
final class CompactCopy {

    private static final int PIECE_BYTES = 1 << 20;

    /** Shorter runs of zeros are written: a hole would cost an extent more. */
    private static final int HOLE_BYTES_MIN = 64 << 10;

    private CompactCopy() {}

    static void copy(Path source, Path target) throws IOException {
        try (FileChannel in = FileChannel.open(source, StandardOpenOption.READ);
                FileChannel out =
                        FileChannel.open(
                                target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (SparseFile.Range range : SparseFile.dataRanges(source)) {
                copyRange(in, out, range.offset(), range.offset() + range.length());
            }
            long size = in.size();
            if (size > out.size()) {
                // One zero at the end gives the length; the rest before it stays a hole.
                out.write(ByteBuffer.allocate(1), size - 1);
            }
        }
    }

    private static void copyRange(FileChannel in, FileChannel out, long from, long to)
            throws IOException {
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE_BYTES);
        long at = from;
        while (at < to) {
            piece.clear().limit((int) Math.min(PIECE_BYTES, to - at));
            int read = in.read(piece, at);
            if (read <= 0) {
                return;
            }
            writeData(out, piece.flip(), at);
            at += read;
        }
    }

    /** Writes the runs of a piece that are not long zeros. */
    private static void writeData(FileChannel out, ByteBuffer piece, long at) throws IOException {
        int length = piece.limit();
        int begin = 0;
        while (begin < length) {
            int zeros = begin;
            while (zeros < length && isZero(piece, zeros, blockEnd(zeros, length))) {
                zeros = blockEnd(zeros, length);
            }
            int end = zeros;
            while (end < length && !isZero(piece, end, blockEnd(end, length))) {
                end = blockEnd(end, length);
            }
            if (end > zeros) {
                ByteBuffer data = piece.slice(zeros, end - zeros);
                long to = at + zeros;
                while (data.hasRemaining()) {
                    to += out.write(data, to);
                }
            }
            begin = end;
        }
    }

    private static int blockEnd(int from, int length) {
        return Math.min(length, from + HOLE_BYTES_MIN);
    }

    private static boolean isZero(ByteBuffer piece, int from, int to) {
        int at = from;
        for (; at + Long.BYTES <= to; at += Long.BYTES) {
            if (piece.getLong(at) != 0) {
                return false;
            }
        }
        for (; at < to; at++) {
            if (piece.get(at) != 0) {
                return false;
            }
        }
        return true;
    }
}
