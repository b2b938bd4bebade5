package dev.space.gateway.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;

/** A server of the outside world: each connection is handled by a function on its own thread. */
final class TestServer implements AutoCloseable {

    /** What to do with a connection; it is closed afterwards. */
    @FunctionalInterface
    interface Handler {
        void handle(Socket socket) throws Exception;
    }

    private static final int BACKLOG = 1024;

    private final ServerSocket listener;
    private final AtomicInteger accepted = new AtomicInteger();

    TestServer(Handler handler) {
        this(plain(), handler);
    }

    TestServer(ServerSocket listener, Handler handler) {
        this.listener = listener;
        Thread _ = Thread.ofVirtual().start(() -> serve(handler));
    }

    private static ServerSocket plain() {
        try {
            return new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Gives back what comes, and ends when it ends. */
    static TestServer echo() {
        return new TestServer(s -> {
            long _ = s.getInputStream().transferTo(s.getOutputStream());
            s.shutdownOutput();
        });
    }

    private void serve(Handler handler) {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                accepted.incrementAndGet();
                Thread _ = Thread.ofVirtual().start(() -> handle(handler, socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private static void handle(Handler handler, Socket socket) {
        try (socket) {
            handler.handle(socket);
        } catch (Exception e) {
            // A client that left early is no failure of the test's.
        }
    }

    int port() {
        return listener.getLocalPort();
    }

    /** Connections so far. */
    int accepted() {
        return accepted.get();
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
