package dev.space.guest.channel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.space.model.SpaceException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a guest may send, cut anywhere, and what it may not. */
final class FrameDecoderTest {

    private static final byte[] PREAMBLE = Handshake.answer("sixteen bytes ok".getBytes(UTF_8));

    /** Writes down what was decoded. */
    private static final class Recorder implements FrameDecoder.Sink {
        final List<String> seen = new ArrayList<>();

        @Override
        public void established() {
            seen.add("established");
        }

        @Override
        public void frame(int stream, FrameType type, boolean end, byte[] payload) {
            seen.add(stream + " " + type + " " + end + " " + Arrays.hashCode(payload));
        }
    }

    private static byte[] valid() {
        var out = new ByteArrayOutputStream();
        frame(out, 1, FrameType.REPLY, true, "reply".getBytes(UTF_8));
        frame(out, 2, FrameType.DATA, false, new byte[ChannelLimits.DATA_BYTES_MAX]);
        frame(out, 2, FrameType.CREDIT, false, new byte[4]);
        frame(out, -1, FrameType.FAILURE, true, new byte[0]);
        return out.toByteArray();
    }

    private static void frame(
            ByteArrayOutputStream out, int stream, FrameType type, boolean end, byte[] payload) {
        out.writeBytes(Frames.encode(stream, type, end, ByteBuffer.wrap(payload)).array());
    }

    private static byte[] concat(byte[]... parts) {
        var out = new ByteArrayOutputStream();
        for (var part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    private static List<String> decode(byte[] bytes, int piece) {
        var decoder = new FrameDecoder();
        decoder.expect(PREAMBLE);
        var sink = new Recorder();
        for (var at = 0; at < bytes.length; at += piece) {
            decoder.feed(ByteBuffer.wrap(bytes, at, Math.min(piece, bytes.length - at)), sink);
        }
        return sink.seen;
    }

    @Test
    void framesAreTheSameHoweverTheyAreCut() {
        var stream = concat(PREAMBLE, valid());
        var whole = decode(stream, stream.length);
        assertThat(whole).hasSize(5).startsWith("established");
        for (var piece : new int[] {1, 2, 7, 11, 12, 13, 31, 4096}) {
            assertThat(decode(stream, piece)).isEqualTo(whole);
        }
    }

    @Test
    void everythingBeforeTheOwnNonceIsDropped() {
        var other = Handshake.answer("another nonce!!!".getBytes(UTF_8));
        var half = Arrays.copyOf(PREAMBLE, 20);
        // "SS": a search that forgets where it may begin again misses the second one.
        var repeated = "SSSPACE-DAEMONSPACE".getBytes(UTF_8);
        var stream = concat(valid(), other, half, repeated, PREAMBLE, valid());
        for (var piece : new int[] {1, 3, 17, stream.length}) {
            assertThat(decode(stream, piece)).hasSize(5).startsWith("established");
        }
    }

    @Test
    void lengthsTypesAndFlagsOutOfBoundsAreRefusedBeforeAnythingIsMade() {
        refused(ChannelLimits.REPLY_BYTES_MAX + 1, 2, 0);
        refused(ChannelLimits.DATA_BYTES_MAX + 1, 3, 0);
        refused(Integer.MAX_VALUE, 3, 0);
        refused(-1, 3, 0);
        refused(5, 4, 0);
        refused(0, 1, 0);
        refused(0, 6, 0);
        refused(0, 0, 0);
        refused(0, 0xffff, 0);
        refused(0, 3, 2);
    }

    private static void refused(int length, int type, int flags) {
        var header = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(length).putInt(1).putShort((short) type).putShort((short) flags);
        assertThatExceptionOfType(SpaceException.class)
                .isThrownBy(() -> decode(concat(PREAMBLE, header.array()), 64));
    }

    @Test
    void mutatedStreamsAreDecodedOrRefusedButNothingElse() {
        var random = new Random(2026);
        var small = Arrays.copyOf(valid(), 60);
        for (var round = 0; round < 20_000; round++) {
            var bytes = small.clone();
            for (var i = random.nextInt(4); i >= 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try {
                assertThat(decode(concat(PREAMBLE, bytes), 1 + random.nextInt(60)).size())
                        .isLessThan(10);
            } catch (SpaceException e) {
                assertThat(e.getMessage()).contains("broke the channel's protocol");
            }
        }
    }
}
