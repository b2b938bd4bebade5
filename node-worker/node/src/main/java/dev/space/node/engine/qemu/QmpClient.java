package dev.space.node.engine.qemu;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.volumes.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * QEMU's control socket. What it says is as untrusted as the guest that may have taken it over:
 * lines are bounded, waits are bounded, unknown answers are dropped.
 */
final class QmpClient implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(QmpClient.class);

    private static final int LINE_BYTES_MAX = 256 << 10;
    private static final int BUFFER_BYTES = 16 << 10;
    private static final int EVENTS_MAX = 64;
    private static final Duration GREETING_TIMEOUT = Duration.ofSeconds(20);

    private final SocketChannel socket;
    private final AtomicLong ids = new AtomicLong();
    private final Map<Long, CompletableFuture<JsonNode>> waiting = new ConcurrentHashMap<>();
    private final CompletableFuture<Boolean> greeted = new CompletableFuture<>();
    private final ReentrantLock writing = new ReentrantLock();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    private final ArrayDeque<JsonNode> migrations = new ArrayDeque<>();
    private @Nullable String shutdownReason;
    private boolean over;

    private QmpClient(SocketChannel socket) {
        this.socket = socket;
    }

    /** Connects, waits for the greeting and leaves negotiation. */
    static QmpClient connect(Path path) {
        QmpClient client;
        try {
            client = new QmpClient(ShortPath.connect(path));
        } catch (IOException e) {
            throw failed("QEMU's control socket does not accept a connection", e);
        }
        // A platform thread: a blocking read of a unix socket would pin a carrier.
        Thread.ofPlatform().daemon().name("qmp").start(client::readLoop);
        try {
            client.await(client.greeted, GREETING_TIMEOUT, "greet");
            var _ = client.command("qmp_capabilities", Map.of(), GREETING_TIMEOUT);
            return client;
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    private static SpaceException failed(String detail, @Nullable Throwable cause) {
        return new SpaceException(ErrorCode.ENGINE_FAILED, detail, cause);
    }

    /** Runs a command and gives its answer. */
    JsonNode command(String name, Map<String, ?> arguments, Duration timeout) {
        long id = ids.incrementAndGet();
        ObjectNode request = Json.MAPPER.createObjectNode();
        request.put("execute", name);
        if (!arguments.isEmpty()) {
            request.set("arguments", Json.MAPPER.valueToTree(arguments));
        }
        request.put("id", id);
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        waiting.put(id, answer);
        try {
            send(request.toString());
            JsonNode reply = await(answer, timeout, name);
            if (reply.has("error")) {
                throw failed("QEMU refused " + name + ": " + cut(reply.get("error")), null);
            }
            return reply.path("return");
        } finally {
            waiting.remove(id);
        }
    }

    private static String cut(JsonNode node) {
        String text = node.path("desc").asText("?").replaceAll("\\p{Cntrl}", "?");
        return text.length() > 300 ? text.substring(0, 300) : text;
    }

    private void send(String json) {
        writing.lock();
        try {
            ByteBuffer line = ByteBuffer.wrap((json + "\n").getBytes(StandardCharsets.UTF_8));
            while (line.hasRemaining()) {
                socket.write(line);
            }
        } catch (IOException e) {
            throw failed("QEMU's control socket is broken", e);
        } finally {
            writing.unlock();
        }
    }

    private <T> T await(CompletableFuture<T> answer, Duration timeout, String what) {
        try {
            return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw failed("QEMU did not " + what + " within " + timeout.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw failed("QEMU ended before it could " + what, e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("interrupted while QEMU was to " + what, e);
        }
    }

    /** Forgets migration events of before. */
    void clearMigrationEvents() {
        lock.lock();
        try {
            migrations.clear();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the end of the migration that was begun, by its events. */
    void awaitMigration(Duration timeout) {
        long nanos = timeout.toNanos();
        lock.lock();
        try {
            while (true) {
                JsonNode event = migrations.pollFirst();
                String status = event == null ? "" : event.path("status").asText();
                if (status.equals("completed")) {
                    return;
                }
                if (status.equals("failed") || status.equals("cancelled")) {
                    throw failed("QEMU's device state could not be moved: " + status, null);
                }
                if (event == null) {
                    if (over) {
                        throw failed("QEMU ended while its device state was moved", null);
                    }
                    if (nanos <= 0) {
                        throw failed("QEMU did not move its device state in time", null);
                    }
                    nanos = arrived.awaitNanos(nanos);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("interrupted while device state was moved", e);
        } finally {
            lock.unlock();
        }
    }

    /** Why the guest went down, as QEMU told it; empty when it did not say. */
    String shutdownReason() {
        lock.lock();
        try {
            return shutdownReason == null ? "" : shutdownReason;
        } finally {
            lock.unlock();
        }
    }

    private void readLoop() {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        try {
            while (socket.read(buffer.clear()) >= 0) {
                buffer.flip();
                while (buffer.hasRemaining()) {
                    byte next = buffer.get();
                    if (next == '\n') {
                        handle(line.toByteArray());
                        line.reset();
                    } else if (line.size() >= LINE_BYTES_MAX) {
                        throw new IOException("a line of QEMU is longer than its bound");
                    } else {
                        line.write(next);
                    }
                }
            }
            end(new IOException("end of QEMU's control socket"));
        } catch (IOException e) {
            end(e);
        }
    }

    private void handle(byte[] line) throws IOException {
        JsonNode message = Json.MAPPER.readTree(line);
        if (message == null || !message.isObject()) {
            return;
        }
        if (message.has("QMP")) {
            greeted.complete(true);
        } else if (message.has("event")) {
            event(message.path("event").asText(), message.path("data"));
        } else {
            CompletableFuture<JsonNode> answer = waiting.get(message.path("id").asLong(-1));
            if (answer != null) {
                answer.complete(message);
            }
        }
    }

    private void event(String name, JsonNode data) {
        lock.lock();
        try {
            if (name.equals("MIGRATION") && migrations.size() < EVENTS_MAX) {
                migrations.addLast(data);
                arrived.signalAll();
            } else if (name.equals("SHUTDOWN")) {
                shutdownReason = data.path("reason").asText("");
            }
        } finally {
            lock.unlock();
        }
    }

    private void end(IOException why) {
        LOG.debug("control socket ended", why);
        lock.lock();
        try {
            over = true;
            arrived.signalAll();
        } finally {
            lock.unlock();
        }
        greeted.completeExceptionally(why);
        waiting.values().forEach(answer -> answer.completeExceptionally(why));
        close();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("closing a control socket", e);
        }
    }
}
