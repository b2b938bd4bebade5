package dev.space.service.rest;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SpaceException;
import dev.space.nodeapi.NodeErrors;
import dev.space.nodeapi.v1.FileChunk;
import dev.space.nodeapi.v1.FileInfo;
import dev.space.nodeapi.v1.FileRequest;
import dev.space.nodeapi.v1.ReadFileRequest;
import dev.space.nodeapi.v1.WriteFileRequest;
import dev.space.service.edge.Leg;
import io.grpc.StatusException;
import io.grpc.stub.BlockingClientCall;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Moves file content piece by piece: one is in memory at a time, and the slower side paces. */
final class FileStreams {
    /** One piece on its way; the node's own are of this order. */
    static final int PIECE_BYTES = 64 << 10;

    /** The longest that one transfer may take. */
    static final Duration TRANSFER_MAX = Duration.ofHours(2);

    private FileStreams() {}

    /** A file whose first piece has arrived, so that errors came before the answer began. */
    record Reading(BlockingClientCall<?, FileChunk> call, @Nullable FileChunk first, String node) {

        FileInfo info() {
            return first == null ? FileInfo.getDefaultInstance() : first.getInfo();
        }

        void copyTo(OutputStream out) throws IOException {
            try {
                FileChunk chunk = first;
                while (chunk != null) {
                    chunk.getData().writeTo(out);
                    chunk = call.read();
                }
            } catch (StatusException failure) {
                throw NodeErrors.toException(failure, node);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            } finally {
                call.cancel("the answer is over", null);
            }
        }
    }

    static Reading open(Leg leg, FileRequest file, long offset, long length)
            throws StatusException, InterruptedException {
        BlockingClientCall<?, FileChunk> call =
                leg.stub(TRANSFER_MAX)
                        .readFile(
                                ReadFileRequest.newBuilder()
                                        .setFile(file)
                                        .setOffset(offset)
                                        .setLength(length)
                                        .build());
        return new Reading(call, call.read(), leg.node());
    }

    /** Sends header and content; the file's name changes only when all has arrived. */
    static FileInfo write(Leg leg, WriteFileRequest.Header header, InputStream body)
            throws StatusException, InterruptedException {
        BlockingClientCall<WriteFileRequest, FileInfo> call = leg.stub(TRANSFER_MAX).writeFile();
        boolean complete = false;
        try {
            boolean open = call.write(WriteFileRequest.newBuilder().setHeader(header).build());
            long sent = 0;
            byte[] piece = body.readNBytes(PIECE_BYTES);
            while (open && piece.length > 0) {
                sent += piece.length;
                if (sent > Limits.FILE_BYTES_MAX) {
                    throw new SpaceException(
                            ErrorCode.BODY_TOO_LARGE,
                            "a file has at most " + Limits.FILE_BYTES_MAX + " bytes");
                }
                open =
                        call.write(
                                WriteFileRequest.newBuilder()
                                        .setData(ByteString.copyFrom(piece))
                                        .build());
                piece = body.readNBytes(PIECE_BYTES);
            }
            call.halfClose();
            FileInfo written = call.read(ProcessesResource.CALL.toMillis(), TimeUnit.MILLISECONDS);
            if (written == null) {
                throw new SpaceException(ErrorCode.INTERNAL, "the node answered nothing");
            }
            complete = true;
            return written;
        } catch (IOException cut) {
            throw new SpaceException(ErrorCode.INVALID_ARGUMENT, "the body ended early", cut);
        } catch (TimeoutException late) {
            throw new SpaceException(
                    ErrorCode.NODE_UNREACHABLE, "the node did not confirm the file", late);
        } finally {
            if (!complete) {
                call.cancel("not all was sent", null);
            }
        }
    }
}
