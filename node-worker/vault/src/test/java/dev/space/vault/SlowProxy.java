package dev.space.vault;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Passes connections on; while it is told to hold, bytes wait, for as long as that lasts. */
public final class SlowProxy implements AutoCloseable {

    private final ServerSocket door;
    private final int to;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final Object gate = new Object();
    private boolean holding;

    /** In front of a port of loopback. */
    public SlowProxy(int to) throws IOException {
        this.to = to;
        door = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        Thread _ = Thread.startVirtualThread(this::accept);
    }

    /** Where it listens. */
    public int port() {
        return door.getLocalPort();
    }

    /** From now on nothing passes, or everything does. */
    public void hold(boolean hold) {
        synchronized (gate) {
            holding = hold;
            gate.notifyAll();
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket from = door.accept();
                sockets.add(from);
                Thread _ = Thread.startVirtualThread(() -> connect(from));
            }
        } catch (IOException closed) {
            close();
        }
    }

    private void connect(Socket from) {
        try (from;
                Socket on = new Socket(InetAddress.getLoopbackAddress(), to)) {
            sockets.add(on);
            Thread _ = Thread.startVirtualThread(() -> pass(on, from));
            pass(from, on);
        } catch (IOException nobodyThere) {
            // The caller sees its connection end.
        }
    }

    private void pass(Socket from, Socket on) {
        try (from;
                on) {
            InputStream in = from.getInputStream();
            OutputStream out = on.getOutputStream();
            byte[] bytes = new byte[8192];
            for (int n = in.read(bytes); n > 0; n = in.read(bytes)) {
                awaitOpen();
                out.write(bytes, 0, n);
            }
        } catch (IOException | InterruptedException ended) {
            // As the other side sees.
        }
    }

    private void awaitOpen() throws InterruptedException {
        synchronized (gate) {
            while (holding) {
                gate.wait();
            }
        }
    }

    @Override
    public void close() {
        hold(false);
        try {
            door.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        } catch (IOException ended) {
            // Nothing is left to do.
        }
    }
}
