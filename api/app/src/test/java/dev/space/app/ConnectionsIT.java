package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Limits;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Slow, half-dead and very many clients: each is cut within its limit, others are served. */
class ConnectionsIT extends SharedPlatform {
    private static final int MANY = 2000;
    private static final Duration LATE = Duration.ofSeconds(15);
    private static final String LIVE =
            "GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    private static final String HEAD =
            "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
                    + Platform.KEY
                    + "\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n";

    private final List<Socket> sockets = new ArrayList<>();

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), p().ports.getFirst());
        sockets.add(socket);
        return socket;
    }

    @AfterEach
    void closeAll() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private static void served() {
        assertThat(p().get("/v1/whoami").statusCode()).isEqualTo(200);
    }

    private static void send(Socket socket, String text) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(text.getBytes(StandardCharsets.US_ASCII));
        out.flush();
    }

    /** One more byte each second, until the server has had enough; how long that took. */
    private static Duration trickle(Socket socket, Duration max) throws IOException {
        long began = System.nanoTime();
        socket.setSoTimeout(1000);
        while (System.nanoTime() - began < max.toNanos()) {
            try {
                send(socket, "a");
                if (socket.getInputStream().read() < 0) {
                    return Duration.ofNanos(System.nanoTime() - began);
                }
            } catch (IOException e) {
                if (!(e instanceof SocketTimeoutException)) { // reset: cut as well
                    return Duration.ofNanos(System.nanoTime() - began);
                }
            }
        }
        throw new AssertionError("still open after " + max);
    }

    private CompletableFuture<Duration> trickling(String start, long limitMillis)
            throws IOException {
        Socket socket = connect();
        send(socket, start);
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return trickle(socket, Duration.ofMillis(limitMillis).plus(LATE));
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                },
                task -> Thread.ofVirtual().start(task));
    }

    @Test
    void headsAndBodiesThatComeByteByByteAreCutWhileOthersAreServed() throws Exception {
        served();
        CompletableFuture<Duration> head =
                trickling(
                        "GET /v1/whoami HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
                        Limits.HTTP_HEAD_MILLIS_MAX);
        CompletableFuture<Duration> body =
                trickling(HEAD + "\r\n{\"template\": \"", Limits.HTTP_BODY_GRACE_MILLIS);
        while (!head.isDone() || !body.isDone()) {
            served();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
        }
        assertThat(head.join()).isGreaterThan(Duration.ofMillis(Limits.HTTP_HEAD_MILLIS_MAX / 2));
        assertThat(body.join()).isGreaterThan(Duration.ofMillis(Limits.HTTP_BODY_GRACE_MILLIS / 2));
        served();
    }

    @Test
    void aClientThatHangsUpInTheMiddleIsLetGo() throws Exception {
        served();
        for (String start : List.of("GET /v1/who", HEAD, HEAD + "\r\n{\"template\"")) {
            Socket socket = connect();
            send(socket, start);
            socket.shutdownOutput();
            socket.setSoTimeout((int) LATE.toMillis());
            try {
                var _ = socket.getInputStream().readAllBytes();
            } catch (SocketTimeoutException open) {
                throw new AssertionError("still open after: " + start, open);
            } catch (IOException reset) {
                // Closed as well.
            }
        }
        served();
    }

    @Test
    void idleConnectionsGiveWayToThoseWithARequest() throws Exception {
        served();
        for (int i = 0; i < MANY; i++) {
            connect();
        }
        for (int i = 0; i < 10; i++) {
            Socket fresh = connect();
            send(fresh, LIVE);
            fresh.setSoTimeout((int) LATE.toMillis());
            assertThat(new String(fresh.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 200");
        }
        assertThat(sockets.subList(0, MANY).stream().filter(ConnectionsIT::isOpen).count())
                .isPositive()
                .isLessThanOrEqualTo(Limits.HTTP_CONNECTIONS_MAX);
        served();
    }

    private static boolean isOpen(Socket socket) {
        try {
            socket.setSoTimeout(1);
            return socket.getInputStream().read() >= 0;
        } catch (SocketTimeoutException open) {
            return true;
        } catch (IOException reset) {
            return false;
        }
    }

    @Test
    void whereAllAreBusyTheNextIsToldSo() throws Exception {
        served();
        for (int i = 0; i < Limits.HTTP_CONNECTIONS_MAX; i++) {
            send(connect(), HEAD + "\r\n{");
        }
        String[] answer = new String[1];
        p().await(
                        "the next one is refused",
                        () -> {
                            answer[0] = answerToTheNext();
                            if (answer[0].startsWith("HTTP/1.1 200")) {
                                send(connect(), HEAD + "\r\n{"); // one was still on its way
                                return false;
                            }
                            return true;
                        });
        assertThat(answer[0])
                .startsWith("HTTP/1.1 429")
                .contains("application/problem+json", "Retry-After: 1", "LIMIT_EXCEEDED");
        closeAll();
        p().await("it serves again", () -> p().get("/v1/whoami").statusCode() == 200);
    }

    private static String answerToTheNext() throws IOException {
        try (Socket next = new Socket(InetAddress.getLoopbackAddress(), p().ports.getFirst())) {
            next.setSoTimeout((int) LATE.toMillis());
            send(next, LIVE);
            return new String(next.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
