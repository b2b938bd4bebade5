package dev.space.privileged;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Every message survives the way; every damaged one is refused in one defined manner. */
class CodecTest {

    private static final long SEED = 20_251_129L;

    private static final VmDirectory DIRECTORY =
            new VmDirectory("main", VmDirectory.Area.SESSIONS, "ses_abc");

    private static Request.StartVmm start(List<String> arguments) {
        return new Request.StartVmm(3, 7, DIRECTORY, "a".repeat(64), 768, 150, 64, arguments);
    }

    private static List<Request> requests() {
        return List.of(
                new Request.EnsureSlot(0),
                start(List.of("-M", "microvm", "größe=ß")),
                new Request.DescribeSlots(),
                new Request.FreezeSlot(1),
                new Request.ThawSlot(PrivilegedLimits.SLOTS_MAX - 1),
                new Request.KillVmm(2),
                new Request.ReadExit(5, Long.MAX_VALUE),
                new Request.ReleaseSlot(9));
    }

    private static List<Reply> replies() {
        SlotInfo slot = new SlotInfo(1, true, false, 4242, 9, "ses_abc", 1, 2, 3, 4);
        return List.of(
                new Reply.Done(),
                new Reply.SlotReady(4, 61004),
                new Reply.VmmStarted(4, 8, 1234),
                new Reply.Slots(List.of(slot, slot)),
                new Reply.Exit(new VmmExit(VmmExit.State.SIGNALED, 9, 1, "qemu: bad")),
                new Reply.Refused(RefusalCode.BAD_FILES, "disk is missing"));
    }

    @Test
    void requestsComeBackEqual() {
        for (Request request : requests()) {
            assertThat(Codec.decodeRequest(Codec.encode(request))).isEqualTo(request);
        }
    }

    @Test
    void repliesComeBackEqual() {
        for (Reply reply : replies()) {
            assertThat(Codec.decodeReply(Codec.encode(reply))).isEqualTo(reply);
        }
    }

    @Test
    void theLargestMessagesFitAFrame() {
        int each = PrivilegedLimits.ARGUMENT_BYTES_MAX / PrivilegedLimits.ARGUMENTS_MAX - 1;
        Request largest =
                start(Collections.nCopies(PrivilegedLimits.ARGUMENTS_MAX, "x".repeat(each)));
        assertThat(Codec.encode(largest)).hasSizeLessThan(PrivilegedLimits.FRAME_BYTES_MAX);
        SlotInfo slot =
                new SlotInfo(
                        1023,
                        true,
                        true,
                        Integer.MAX_VALUE,
                        Long.MAX_VALUE,
                        "x".repeat(80),
                        1,
                        2,
                        3,
                        4);
        Reply slots = new Reply.Slots(Collections.nCopies(PrivilegedLimits.SLOTS_MAX, slot));
        assertThat(Codec.encode(slots)).hasSizeLessThan(PrivilegedLimits.FRAME_BYTES_MAX);
    }

    @Test
    void longTextsAreClippedNotRefused() {
        Reply reply = new Reply.Refused(RefusalCode.FAILED, "ß".repeat(100_000));
        assertThat(Codec.decodeReply(Codec.encode(reply)))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        r -> assertThat(r.detail()).startsWith("ßß").hasSizeLessThan(10_000));
    }

    @Test
    void truncatedFramesAreRefused() {
        for (byte[] whole : frames()) {
            for (int length = 0; length < whole.length; length++) {
                byte[] cut = java.util.Arrays.copyOf(whole, length);
                assertThatThrownBy(() -> decodeBoth(cut))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
    }

    @Test
    void trailingBytesAreRefused() {
        byte[] frame = Codec.encode(new Request.DescribeSlots());
        byte[] longer = java.util.Arrays.copyOf(frame, frame.length + 1);
        assertThatThrownBy(() -> Codec.decodeRequest(longer))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void mutatedFramesDecodeOrFailWithTheOneException() {
        Random random = new Random(SEED);
        List<byte[]> frames = frames();
        for (int round = 0; round < 200_000; round++) {
            byte[] frame = frames.get(random.nextInt(frames.size())).clone();
            for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
                frame[random.nextInt(frame.length)] = (byte) random.nextInt(256);
            }
            try {
                decodeBoth(frame);
            } catch (IllegalArgumentException expected) {
                assertThat(expected.getMessage()).as("seed %s round %s", SEED, round).isNotNull();
            }
        }
    }

    @Test
    void randomBytesDecodeOrFailWithTheOneException() {
        Random random = new Random(SEED);
        for (int round = 0; round < 100_000; round++) {
            byte[] frame = new byte[2 + random.nextInt(80)];
            random.nextBytes(frame);
            frame[0] = 1;
            frame[1] = (byte) (random.nextBoolean() ? random.nextInt(9) : 64 + random.nextInt(6));
            try {
                decodeBoth(frame);
            } catch (IllegalArgumentException expected) {
                assertThat(expected).as("seed %s round %s", SEED, round).isNotNull();
            }
        }
    }

    private static List<byte[]> frames() {
        List<byte[]> frames = new ArrayList<>();
        requests().forEach(r -> frames.add(Codec.encode(r)));
        replies().forEach(r -> frames.add(Codec.encode(r)));
        return frames;
    }

    /** A frame is a request or a reply; both decoders see it and one at least must refuse. */
    private static void decodeBoth(byte[] frame) {
        Request request;
        try {
            request = Codec.decodeRequest(frame);
        } catch (IllegalArgumentException e) {
            Reply reply = Codec.decodeReply(frame);
            assertThat(Codec.decodeReply(Codec.encode(reply))).isEqualTo(reply);
            return;
        }
        assertThat(Codec.decodeRequest(Codec.encode(request))).isEqualTo(request);
    }
}
