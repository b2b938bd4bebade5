package dev.space.gateway.dns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.DatagramPacket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class DnsQueryTest {

    private static final int ROUNDS = 20_000;
    private static final InetSocketAddress ASKER =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 5353);

    static ByteBuf query(String name, int type) {
        ByteBuf out = Unpooled.buffer();
        out.writeShort(0x1234).writeShort(0x0100).writeShort(1).writeZero(6);
        for (String label : name.split("\\.", -1)) {
            byte[] bytes = label.getBytes(StandardCharsets.ISO_8859_1);
            out.writeByte(bytes.length).writeBytes(bytes);
        }
        return out.writeByte(0).writeShort(type).writeShort(1);
    }

    @Test
    void readsOneQuestion() throws Exception {
        DnsQuery query = DnsQuery.read(query("www.Example.com", 1));
        assertThat(query.id()).isEqualTo(0x1234);
        assertThat(query.name()).isEqualTo("www.Example.com");
        assertThat(query.type()).isEqualTo(DnsQuery.TYPE_A);
        assertThat(query.wantsRecursion()).isTrue();
        assertThat(DnsQuery.read(query("a", 28)).type()).isEqualTo(28);
    }

    @Test
    void refusesWhatIsNotOnePlainQuestion() {
        ByteBuf two = query("a.b", 1).setShort(4, 2);
        ByteBuf answer = query("a.b", 1).setShort(2, 0x8180);
        ByteBuf update = query("a.b", 1).setShort(2, 0x2800);
        ByteBuf compressed = query("a.b", 1).setShort(12, 0xc00c);
        ByteBuf chaos = query("a.b", 1);
        chaos.setShort(chaos.writerIndex() - 2, 3);
        for (ByteBuf bad :
                new ByteBuf[] {
                    two,
                    answer,
                    update,
                    compressed,
                    chaos,
                    Unpooled.EMPTY_BUFFER,
                    query("a.b", 1).slice(0, 11),
                    query("a.b", 1).slice(0, 14),
                    query("a".repeat(64), 1),
                    query(("a".repeat(63) + ".").repeat(4) + "b", 1)
                }) {
            assertThatThrownBy(() -> DnsQuery.read(bad)).isInstanceOf(DnsQuery.Malformed.class);
        }
    }

    /** Whatever comes: an answer of a bounded size to the asker, or none. */
    @Test
    void hostileDatagramsGetAShortAnswerOrNone() {
        AllNames names = new AllNames();
        EmbeddedChannel channel = new EmbeddedChannel(new DnsResponder(names));
        for (int seed = 0; seed < ROUNDS; seed++) {
            Random random = new Random(seed);
            ByteBuf datagram = damaged(random);
            int length = datagram.readableBytes();
            channel.writeInbound(new DatagramPacket(datagram, ASKER, ASKER));
            DatagramPacket reply = channel.readOutbound();
            if (reply != null) {
                assertThat(reply.content().readableBytes())
                        .as("seed %s", seed)
                        .isBetween(12, length + 16);
                assertThat(reply.content().getByte(2) & 0x80).as("an answer").isNotZero();
                reply.release();
            }
            assertThat(channel.<Object>readOutbound()).isNull();
            channel.checkException();
        }
        assertThat(channel.finishAndReleaseAll()).isFalse();
        assertThat(names.unreadable).as("each is counted").isPositive();
        assertThat(names.asked + names.unreadable).isEqualTo(ROUNDS);
    }

    private static ByteBuf damaged(Random random) {
        if (random.nextInt(4) == 0) {
            byte[] noise = new byte[random.nextInt(600)];
            random.nextBytes(noise);
            return Unpooled.wrappedBuffer(noise);
        }
        ByteBuf query = query("some.name.example", random.nextInt(40));
        for (int i = random.nextInt(4); i >= 0; i--) {
            query.setByte(random.nextInt(query.writerIndex()), random.nextInt(256));
        }
        return query.slice(0, 1 + random.nextInt(query.writerIndex()));
    }

    private static final class AllNames implements DnsResponder.Names {

        private int asked;
        private int unreadable;

        @Override
        public void unreadable() {
            unreadable++;
        }

        @Override
        public boolean mayAsk() {
            return true;
        }

        @Override
        public DnsResponder.Answer answer(String name, boolean wantsAddress) {
            asked++;
            return switch (asked % 4) {
                case 0 -> new DnsResponder.Answer.Address(asked);
                case 1 -> new DnsResponder.Answer.Nothing();
                case 2 -> new DnsResponder.Answer.Refused();
                default -> new DnsResponder.Answer.Full();
            };
        }
    }
}
