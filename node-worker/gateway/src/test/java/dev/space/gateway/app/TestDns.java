package dev.space.gateway.app;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A DNS server of the outside world: answers what it was told, and remembers who was asked for. */
final class TestDns implements AutoCloseable {

    private static final int HEADER = 12;

    private final DatagramSocket socket;
    private final Map<String, String> addresses = new ConcurrentHashMap<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();

    TestDns() {
        this(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    TestDns(InetSocketAddress address) {
        try {
            socket = new DatagramSocket(address);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread _ = Thread.ofVirtual().start(this::serve);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) socket.getLocalSocketAddress();
    }

    /** The name has these addresses from now on, with commas between them. */
    void put(String name, String those) {
        addresses.put(name, those);
    }

    /** Names that it was asked for. */
    List<String> asked() {
        return asked;
    }

    static byte[] query(String name, int type) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(new byte[] {7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0});
        for (String label : name.split("\\.", -1)) {
            out.write(label.length());
            out.writeBytes(label.getBytes(StandardCharsets.US_ASCII));
        }
        out.writeBytes(new byte[] {0, 0, (byte) type, 0, 1});
        return out.toByteArray();
    }

    private void serve() {
        while (!socket.isClosed()) {
            DatagramPacket packet = new DatagramPacket(new byte[1500], 1500);
            try {
                socket.receive(packet);
                byte[] answer = answer(packet.getData());
                socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
            } catch (IOException e) {
                return;
            }
        }
    }

    private byte[] answer(byte[] query) {
        StringBuilder name = new StringBuilder();
        int at = HEADER;
        for (int length = query[at]; length != 0; length = query[at]) {
            name.append(name.isEmpty() ? "" : ".");
            name.append(new String(query, at + 1, length, StandardCharsets.US_ASCII));
            at += 1 + length;
        }
        int end = at + 5;
        asked.add(name.toString());
        String known = addresses.getOrDefault(name.toString(), "");
        String[] all = known.isEmpty() ? new String[0] : known.split(",", -1);
        ByteBuffer out = ByteBuffer.allocate(end + all.length * 16);
        out.put(query, 0, 2).putShort((short) (all.length == 0 ? 0x8183 : 0x8180));
        out.putShort((short) 1).putShort((short) all.length).putInt(0);
        out.put(query, HEADER, end - HEADER);
        for (String address : all) {
            out.putShort((short) 0xc00c).putShort((short) 1).putShort((short) 1).putInt(1);
            out.putShort((short) 4);
            for (String octet : address.split("\\.", -1)) {
                out.put((byte) Integer.parseInt(octet));
            }
        }
        return out.array();
    }

    @Override
    public void close() {
        socket.close();
    }
}
