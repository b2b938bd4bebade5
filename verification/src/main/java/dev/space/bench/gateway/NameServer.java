package dev.space.bench.gateway;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The outside's DNS server: one name, which is 127.0.0.1; it knows no other. */
final class NameServer {

    private static final int PORT = 53;
    private static final int HEADER_BYTES = 12;
    private static final int BYTES_MAX = 1500;
    private static final int TTL_SECONDS = 60;
    private static final byte[] LOOPBACK = {127, 0, 0, 1};

    private NameServer() {}

    static void start(String name) throws IOException {
        DatagramSocket socket =
                new DatagramSocket(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), PORT));
        byte[] known = question(name);
        Thread _ = Thread.ofPlatform().name("dns").daemon().start(() -> serve(socket, known));
    }

    private static byte[] question(String name) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (String label : name.split("\\.", -1)) {
            out.write(label.length());
            out.writeBytes(label.getBytes(StandardCharsets.US_ASCII));
        }
        out.writeBytes(new byte[] {0, 0, 1, 0, 1});
        return out.toByteArray();
    }

    private static void serve(DatagramSocket socket, byte[] known) {
        while (true) {
            DatagramPacket packet = new DatagramPacket(new byte[BYTES_MAX], BYTES_MAX);
            try {
                socket.receive(packet);
                byte[] answer = answer(packet, known);
                socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static byte[] answer(DatagramPacket packet, byte[] known) {
        ByteBuffer query = ByteBuffer.wrap(packet.getData(), 0, packet.getLength());
        boolean knows =
                packet.getLength() >= HEADER_BYTES + known.length
                        && query.slice(HEADER_BYTES, known.length).equals(ByteBuffer.wrap(known));
        ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + known.length + 16);
        out.putShort(query.getShort(0)).putShort((short) (knows ? 0x8180 : 0x8183));
        out.putShort((short) (knows ? 1 : 0)).putShort((short) (knows ? 1 : 0)).putInt(0);
        if (knows) {
            out.put(known).putShort((short) 0xc00c).putShort((short) 1).putShort((short) 1);
            out.putInt(TTL_SECONDS).putShort((short) LOOPBACK.length).put(LOOPBACK);
        }
        byte[] bytes = new byte[out.flip().remaining()];
        out.get(bytes);
        return bytes;
    }
}
