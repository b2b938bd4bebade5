package dev.space.gateway.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many bad clients at once: memory has a bound, and a good one is served meanwhile. */
@Timeout(120)
final class CrowdTest {

    private static final int CROWD = 400;

    /**
     * Each direction: one turn of reading and the water mark; with room for the allocator's own.
     */
    private static final long BYTES_EACH_MAX = 512 << 10;

    @TempDir Path directory;

    @Test
    void slowReadersCostABoundedSum() throws Exception {
        try (Rig rig = Rig.with(directory);
                TestServer flood =
                        new TestServer(s -> {
                            byte[] piece = new byte[256 << 10];
                            while (true) {
                                s.getOutputStream().write(piece);
                            }
                        });
                TestServer echo = TestServer.echo()) {
            rig.outsideDns.put("a.example", "127.0.0.1");
            rig.bind(
                    "{\"allow\":[{\"host\":\"a.example\",\"private\":true,\"ports\":["
                            + flood.port()
                            + ","
                            + echo.port()
                            + "]}],\"limits\":{\"connections\":1000}}");
            long before = PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
            List<Socket> crowd = new ArrayList<>();
            try {
                int address = rig.resolve("a.example");
                for (int i = 0; i < CROWD; i++) {
                    crowd.add(rig.connectTo(address, flood.port()));
                }
                await(() -> flood.accepted() == CROWD);
                for (int i = 0; i < 20; i++) {
                    try (Socket good = rig.connectTo(address, echo.port())) {
                        good.getOutputStream().write("ping".getBytes(UTF_8));
                        assertThat(good.getInputStream().readNBytes(4)).hasSize(4);
                    }
                }
                long used = PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory() - before;
                assertThat(used).isLessThan(CROWD * BYTES_EACH_MAX);
            } finally {
                for (Socket socket : crowd) {
                    socket.close();
                }
            }
        }
    }

    @Test
    void clientsThatSayNothingAreGivenUp() throws Exception {
        try (Rig rig = Rig.with(directory)) {
            rig.bind("{\"allow\":[{\"host\":\"a.example\"}],\"limits\":{\"connections\":1000}}");
            int address = rig.resolve("a.example");
            List<Socket> crowd = new ArrayList<>();
            for (int i = 0; i < CROWD; i++) {
                crowd.add(rig.connectTo(address, i % 2 == 0 ? 443 : 80));
            }
            for (Socket socket : crowd) {
                OpaqueTest.assertReset(socket);
            }
            assertThat(rig.outsideDns.asked()).isEmpty();
        }
    }

    private interface Condition {
        boolean holds() throws IOException;
    }

    private static void await(Condition condition) throws Exception {
        Instant deadline = Instant.now().plus(Duration.ofSeconds(60));
        while (!condition.holds()) {
            assertThat(Instant.now()).isBefore(deadline);
            LockSupport.parkNanos(10_000_000);
        }
    }
}
