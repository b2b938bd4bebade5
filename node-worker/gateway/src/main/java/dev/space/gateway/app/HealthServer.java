package dev.space.gateway.app;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Health and metrics over HTTP on loopback: numbers, never a name or an address of a sandbox. */
final class HealthServer implements AutoCloseable {

    private static final String UP = "{\"status\":\"UP\"}";

    private final HttpServer server;
    private final ExecutorService answers = Executors.newVirtualThreadPerTaskExecutor();

    /** Ready as soon as it serves: the gateway waits for nobody. */
    HealthServer(int port, PrometheusMeterRegistry metrics) throws IOException {
        server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.setExecutor(answers);
        server.createContext("/health/live", e -> answer(e, "application/json", UP));
        server.createContext("/health/ready", e -> answer(e, "application/json", UP));
        server.createContext(
                "/metrics", e -> answer(e, "text/plain; version=0.0.4", metrics.scrape()));
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    private static void answer(HttpExchange exchange, String type, String body) throws IOException {
        try (exchange) {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        answers.close();
    }
}
