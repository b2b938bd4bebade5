package dev.space.bench.floor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The few commands that a bare restore and a bare checkpoint need. One thread at a time. */
final class Qmp implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final SocketChannel socket;
    private final BufferedReader in;
    private final Writer out;

    Qmp(SocketChannel socket) throws IOException {
        this.socket = socket;
        this.in = new BufferedReader(Channels.newReader(socket, StandardCharsets.UTF_8));
        this.out = Channels.newWriter(socket, StandardCharsets.UTF_8);
        var _ = next();
        execute("qmp_capabilities", Map.of());
    }

    private JsonNode next() throws IOException {
        String line = in.readLine();
        if (line == null) {
            throw new EOFException("QEMU closed its control socket");
        }
        return JSON.readTree(line);
    }

    /** Sends a command and returns its answer; events that come before it are dropped. */
    JsonNode execute(String command, Map<String, ?> arguments) throws IOException {
        out.write(JSON.writeValueAsString(Map.of("execute", command, "arguments", arguments)));
        out.write("\n");
        out.flush();
        while (true) {
            JsonNode message = next();
            if (message.has("error")) {
                throw new IOException(command + ": " + message.path("error"));
            }
            if (message.has("return")) {
                return message.path("return");
            }
        }
    }

    /** Waits for the end of a migration by its events. */
    void awaitMigrated() throws IOException {
        while (true) {
            JsonNode message = next();
            if (!message.path("event").asText().equals("MIGRATION")) {
                continue;
            }
            String status = message.path("data").path("status").asText();
            if (status.equals("completed")) {
                return;
            }
            if (status.equals("failed")) {
                throw new IOException("the migration failed");
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
