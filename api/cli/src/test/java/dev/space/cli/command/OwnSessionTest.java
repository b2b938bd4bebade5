package dev.space.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.space.client.ApiException;
import dev.space.client.CreateSession;
import dev.space.client.SpaceClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The session of a `run` never outlives it, not even one whose creation takes too long. */
@Timeout(60)
final class OwnSessionTest {

    private static final CreateSession REQUEST = new CreateSession("default", "large", null, null);

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final HttpServer server;
    private volatile boolean inTime;

    OwnSessionTest() throws IOException {
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
        asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
        int status = 200;
        String text = "{}";
        if (exchange.getRequestMethod().equals("POST") && inTime) {
            status = 201;
            text = "{\"id\":\"ses_1\",\"state\":\"RUNNING\"}";
        } else if (exchange.getRequestMethod().equals("POST")) {
            status = 504;
            text = "{\"code\":\"TIMED_OUT\",\"detail\":\"it goes on\",\"operation\":\"op_1\"}";
        } else if (path.equals("/v1/operations/op_1")) {
            text = "{\"id\":\"op_1\",\"session\":\"ses_1\",\"state\":\"ACCEPTED\"}";
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private void run(boolean keep) {
        URI base = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        try (SpaceClient client = new SpaceClient(base, "key");
                OwnSession session = new OwnSession(client, keep)) {
            session.create(REQUEST);
        }
    }

    @Test
    void oneThatIsStillBeingCreatedIsDestroyed() {
        assertThatThrownBy(() -> run(false))
                .isInstanceOfSatisfying(
                        ApiException.class, e -> assertThat(e.code()).isEqualTo("TIMED_OUT"));
        assertThat(asked).element(0).asString().startsWith("POST /v1/sessions?wait=300");
        assertThat(asked).anyMatch(a -> a.startsWith("DELETE /v1/sessions/ses_1"));
    }

    /** Who is killed gives no sign any more, and its session goes by itself. */
    @Test
    void itGivesSignsOfLifeWhileItRuns() {
        inTime = true;
        URI base = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        try (SpaceClient client = new SpaceClient(base, "key");
                OwnSession session = new OwnSession(client, false, Duration.ofMillis(10))) {
            assertThat(session.create(REQUEST)).isEqualTo("ses_1");
            while (asked.stream().filter(a -> a.contains("/ses_1/files/stat")).count() < 2) {
                Thread.onSpinWait(); // bounded by the class's time-out
            }
        }
        assertThat(asked).anyMatch(a -> a.startsWith("DELETE /v1/sessions/ses_1"));
        assertThat(OwnSession.LEFT_ALONE.action()).isEqualTo("destroy");
    }

    @Test
    void oneThatIsToBeKeptIsKept() {
        assertThatThrownBy(() -> run(true)).isInstanceOf(ApiException.class);
        assertThat(asked).noneMatch(a -> a.startsWith("DELETE"));
    }
}
