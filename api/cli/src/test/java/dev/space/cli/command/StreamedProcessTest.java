package dev.space.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.space.client.RunProcess;
import dev.space.client.SpaceClient;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams and exit codes of one process, against an API that takes input only in small bites. */
@Timeout(60)
final class StreamedProcessTest {

    private static final int INPUT_BYTES = 700_000;
    private static final int BITE_BYTES = 100_000;

    private final ByteArrayOutputStream taken = new ByteArrayOutputStream();
    private final CountDownLatch inputEnded = new CountDownLatch(1);
    private final ConcurrentLinkedQueue<String> signals = new ConcurrentLinkedQueue<>();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private String ended = "{\"state\":\"EXITED\",\"reason\":\"EXITED\",\"exitCode\":0}";
    private boolean waitsForInput;
    private HttpServer server;

    StreamedProcessTest() throws IOException {
        server = HttpServer.create();
    }

    @BeforeEach
    void serve() throws IOException {
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        byte[] body = exchange.getRequestBody().readAllBytes();
        String text;
        if (path.endsWith("/stdin")) {
            text = "{\"offset\":" + take(exchange.getRequestURI().getQuery(), body) + "}";
        } else if (path.endsWith("/output")) {
            text = output(exchange.getRequestURI().getQuery());
        } else if (path.endsWith("/signal")) {
            signals.add(new String(body, StandardCharsets.UTF_8));
            text = "{}";
        } else if (path.endsWith("/processes")) {
            text = "{\"id\":\"p1\"}";
        } else {
            text = ended;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private String output(String query) {
        if (waitsForInput) {
            try {
                inputEnded.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        return query.contains("stream=stdout") ? "to out" : "to err";
    }

    /** Takes a bite only, as a process that reads slowly makes the platform do. */
    private synchronized long take(String query, byte[] body) {
        long offset = Long.parseLong(query.replaceAll(".*offset=([0-9]+).*", "$1"));
        assertThat(offset).isEqualTo(taken.size());
        int bite = Math.min(body.length, BITE_BYTES);
        taken.write(body, 0, bite);
        if (query.contains("eof=true")) {
            inputEnded.countDown();
        }
        return taken.size();
    }

    private int run(InputStream in, OutputStream toOut) {
        URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        try (SpaceClient client = new SpaceClient(url, "none")) {
            return new StreamedProcess(client, "s1", in, toOut, err)
                    .run(RunProcess.of(List.of("cat")));
        }
    }

    @Test
    void inputThatIsTakenInBitesArrivesWhole() {
        byte[] input = new byte[INPUT_BYTES];
        new Random(1).nextBytes(input);
        waitsForInput = true;
        assertThat(run(new ByteArrayInputStream(input), out)).isZero();
        assertThat(taken.toByteArray()).isEqualTo(input);
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("to out");
        assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo("to err");
    }

    @Test
    void exitCodesAreTheShells() {
        ended = "{\"state\":\"EXITED\",\"reason\":\"EXITED\",\"exitCode\":7}";
        assertThat(run(InputStream.nullInputStream(), out)).isEqualTo(7);
        ended = "{\"state\":\"EXITED\",\"reason\":\"SIGNALED\",\"signal\":9}";
        assertThat(run(InputStream.nullInputStream(), out)).isEqualTo(137);
        ended = "{\"state\":\"EXITED\",\"reason\":\"TIMED_OUT\",\"signal\":9}";
        assertThat(run(InputStream.nullInputStream(), out)).isEqualTo(124);
    }

    @Test
    void aProcessWhoseReaderIsGoneIsEnded() {
        OutputStream closed =
                new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException("Broken pipe");
                    }
                };
        ended = "{\"state\":\"RUNNING\"}";
        assertThat(run(InputStream.nullInputStream(), closed)).isEqualTo(141);
        assertThat(signals).anyMatch(s -> s.contains("INT")).anyMatch(s -> s.contains("KILL"));
    }
}
