package dev.space.gateway.tcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.Test;

final class ClientHelloTest {

    private static final int ROUNDS = 20_000;

    /** What the JDK's own client sends. */
    static byte[] hello(List<String> names, String... protocols) throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setServerNames(
                names.stream().map(n -> (SNIServerName) new SNIHostName(n)).toList());
        if (protocols.length > 0) {
            parameters.setProtocols(protocols);
        }
        engine.setSSLParameters(parameters);
        ByteBuffer out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(ByteBuffer.allocate(0), out);
        byte[] bytes = new byte[out.flip().remaining()];
        out.get(bytes);
        return bytes;
    }

    private static Optional<ClientHello> read(byte[] bytes) throws ClientHello.Malformed {
        return ClientHello.read(Unpooled.wrappedBuffer(bytes));
    }

    @Test
    void readsTheServerName() throws Exception {
        for (String protocol : List.of("TLSv1.2", "TLSv1.3")) {
            assertThat(read(hello(List.of("www.example.com"), protocol)))
                    .contains(new ClientHello(Optional.of("www.example.com"), false, List.of()));
            assertThat(read(hello(List.of(), protocol)))
                    .contains(new ClientHello(Optional.empty(), false, List.of()));
        }
    }

    @Test
    void waitsForWhatIsMissing() throws Exception {
        byte[] whole = hello(List.of("a.example"));
        for (int length = 0; length < whole.length; length++) {
            assertThat(ClientHello.read(Unpooled.wrappedBuffer(whole, 0, length))).isEmpty();
        }
    }

    @Test
    void joinsFragments() throws Exception {
        byte[] whole = hello(List.of("a.example"));
        assertThat(ClientHello.read(fragmented(whole, 1))).isPresent();
        assertThat(ClientHello.read(fragmented(whole, 100)))
                .contains(new ClientHello(Optional.of("a.example"), false, List.of()));
    }

    /** The same message in records of so many bytes. */
    private static ByteBuf fragmented(byte[] hello, int size) {
        ByteBuf out = Unpooled.buffer();
        for (int at = 5; at < hello.length; at += size) {
            int length = Math.min(size, hello.length - at);
            out.writeBytes(hello, 0, 3).writeShort(length).writeBytes(hello, at, length);
        }
        return out;
    }

    @Test
    void seesThatANameIsHidden() throws Exception {
        byte[] whole = hello(List.of("a.example"));
        byte[] ech = withExtension(whole, 0xfe0d, new byte[] {0, 1, 2, 3});
        assertThat(read(ech)).contains(new ClientHello(Optional.of("a.example"), true, List.of()));
    }

    @Test
    void refusesWhatIsNoClientHello() throws Exception {
        byte[] whole = hello(List.of("a.example"));
        byte[] twice = withExtension(whole, 0, new byte[] {0, 6, 0, 0, 3, 'b', '.', 'c'});
        for (byte[] bad :
                List.of(
                        "GET / HTTP/1.1\r\n\r\n".getBytes(UTF_8),
                        "SSH-2.0-x\r\n".getBytes(UTF_8),
                        new byte[] {0x16, 2, 0, 0, 4, 1, 0, 0, 0},
                        new byte[] {0x16, 3, 1, 0, 0},
                        new byte[] {0x16, 3, 1, 0x7f, (byte) 0xff, 1},
                        new byte[] {0x16, 3, 1, 0, 4, 2, 0, 0, 0},
                        new byte[] {0x16, 3, 1, 0, 4, 1, (byte) 0xff, 0, 0},
                        new byte[] {0x16, 3, 1, 0, 6, 1, 0, 0, 2, 3, 3},
                        twice)) {
            assertThatThrownBy(() -> read(bad)).isInstanceOf(ClientHello.Malformed.class);
        }
    }

    /** Adds an extension at the end, and mends the four lengths around it. */
    private static byte[] withExtension(byte[] hello, int type, byte[] content) {
        ByteBuf b = Unpooled.buffer().writeBytes(hello);
        int at = 5 + 4 + 34;
        at += 1 + b.getUnsignedByte(at);
        at += 2 + b.getUnsignedShort(at);
        at += 1 + b.getUnsignedByte(at);
        int more = 4 + content.length;
        b.setShort(at, b.getUnsignedShort(at) + more);
        b.setMedium(6, b.getUnsignedMedium(6) + more);
        b.setShort(3, b.getUnsignedShort(3) + more);
        b.writeShort(type).writeShort(content.length).writeBytes(content);
        byte[] out = new byte[b.readableBytes()];
        b.readBytes(out);
        return out;
    }

    @Test
    void damagedBytesAreReadOrMalformedAndNothingElse() throws Exception {
        byte[] whole = hello(List.of("a.example"));
        for (int seed = 0; seed < ROUNDS; seed++) {
            Random random = new Random(seed);
            byte[] bytes = whole.clone();
            for (int i = random.nextInt(5); i >= 0; i--) {
                bytes[random.nextInt(random.nextBoolean() ? bytes.length : 120)] =
                        (byte) random.nextInt(256);
            }
            ByteBuf buffer =
                    random.nextBoolean()
                            ? Unpooled.wrappedBuffer(bytes)
                            : fragmented(bytes, 1 + random.nextInt(200));
            int before = buffer.readableBytes();
            try {
                Optional<ClientHello> read = ClientHello.read(buffer);
                read.flatMap(ClientHello::serverName)
                        .ifPresent(n -> assertThat(n).hasSizeBetween(1, 255));
            } catch (ClientHello.Malformed e) {
                assertThat(e.getMessage()).isNotBlank();
            }
            assertThat(buffer.readableBytes())
                    .as("seed %s: nothing is taken", seed)
                    .isEqualTo(before);
        }
    }

    @Test
    void isBounded() {
        ByteBuf endless = Unpooled.buffer();
        endless.writeByte(22).writeShort(0x0301).writeShort(4).writeByte(1).writeMedium(19_000);
        assertThatThrownBy(
                        () -> {
                            while (true) {
                                assertThat(ClientHello.read(endless)).isEmpty();
                                endless.writeByte(22).writeShort(0x0301).writeShort(1).writeByte(0);
                                assertThat(endless.readableBytes()).isLessThan(40_000);
                            }
                        })
                .isInstanceOf(ClientHello.Malformed.class);
    }
}
