package dev.space.node.app;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** Health and metrics over HTTP. Says nothing of any sandbox's content. */
final class HealthServer implements AutoCloseable {

    private final HttpServer server;

    /**
     * Serves {@code /health/live}, {@code /health/ready} and {@code /metrics}. The supplier answers
     * an empty text when the node is ready, and what it waits for when it is not.
     */
    HealthServer(
            InetSocketAddress address, Supplier<String> waitsFor, PrometheusMeterRegistry metrics)
            throws IOException {
        server = HttpServer.create(address, 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/health/live", e -> answer(e, 200, "{\"status\":\"UP\"}"));
        server.createContext(
                "/health/ready",
                e -> {
                    String reason = waitsFor.get();
                    if (reason.isEmpty()) {
                        answer(e, 200, "{\"status\":\"UP\"}");
                    } else {
                        answer(e, 503, "{\"status\":\"DOWN\",\"waitsFor\":\"" + reason + "\"}");
                    }
                });
        server.createContext("/metrics", e -> answer(e, 200, metrics.scrape()));
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        try (exchange) {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            String type = body.startsWith("{") ? "application/json" : "text/plain; version=0.0.4";
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
