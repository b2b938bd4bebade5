package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.nativeabi.ExtentMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checkpoints of a guest that writes all over its memory and its disk: their cost follows the
 * number of extents, which the node keeps small. {@code -Dspace.snapshots=1000} prints what becomes
 * of it.
 */
final class FragmentsIT extends OnOnePlatform {

    private static final int SNAPSHOTS = Integer.getInteger("space.snapshots", 8);
    private static final int SEEN_EVERY = Math.max(4, SNAPSHOTS / 20);
    private static final int KEPT = 20;
    private static final Duration STEP_MAX = Duration.ofMinutes(3);

    /** What the node lets a file have before it rewrites it, and what it leaves then. */
    private static final int EXTENTS_MAX = 4096;

    /** Each line of the pipe makes it write so many pages of memory and of a file. */
    private static final String WRITER =
            """
            import os, random, sys
            size = 96 << 20
            mem = bytearray(size)
            disk = os.open("blob", os.O_RDWR | os.O_CREAT)
            for _ in range(size >> 20):
                os.write(disk, b"\\1" * (1 << 20))
            os.fsync(disk)
            r = random.Random(1)
            pages = size // 4096
            told = {}
            for n, line in enumerate(sys.stdin):
                for _ in range(int(line)):
                    page = r.randrange(pages)
                    word = b"%016d" % (n * pages + page)
                    mem[page * 4096:page * 4096 + 16] = word
                    os.pwrite(disk, word, page * 4096)
                    told[page] = word
                os.fsync(disk)
                good = all(mem[p * 4096:p * 4096 + 16] == w and os.pread(disk, 16, p * 4096) == w
                           for p, w in told.items())
                print(n, len(told), good, flush=True)
            """;

    private Path live(String session) throws IOException {
        try (Stream<Path> volumes = Files.list(platform.data().resolve("node/volumes"))) {
            return volumes.map(v -> v.resolve("sessions").resolve(session).resolve("live"))
                    .filter(Files::isDirectory)
                    .findFirst()
                    .orElseThrow();
        }
    }

    private int extents(String session, String file) throws IOException {
        return ExtentMap.asItIs(live(session).resolve(file)).size();
    }

    /** Writes that many pages and answers what the writer found of all that it ever wrote. */
    private void write(String session, String writer, int round, int pages) throws Exception {
        rest.shell(session, "echo " + pages + " >todo");
        Await.until(
                "round " + round + " is written",
                STEP_MAX,
                () -> rest.output(session, writer).lines().count() > round);
        String last = rest.output(session, writer).lines().toList().get(round);
        assertThat(last).startsWith(round + " ").endsWith(" True");
    }

    private void keepFew(String session) throws IOException {
        List<JsonNode> all = rest.list("/v1/sessions/" + session + "/snapshots?limit=1000");
        for (JsonNode old : all.subList(Math.min(KEPT, all.size()), all.size())) {
            var _ =
                    rest.insist(
                            "DELETE",
                            "/v1/sessions/%s/snapshots/%s"
                                    .formatted(session, old.path("id").asText()),
                            null);
        }
    }

    private static long millis(long began) {
        return Duration.ofNanos(System.nanoTime() - began).toMillis();
    }

    @Test
    void checkpointsStayCheapHoweverManyThereWere() throws Exception {
        String session = rest.created();
        rest.shell(session, "mkfifo todo; cat >writer.py <<'EOF'\n" + WRITER + "EOF");
        String writer = rest.background(session, "exec python3 writer.py <>todo");
        // In CI so many at once that a few snapshots do; else as a busy guest would in a minute.
        int pages = SNAPSHOTS < 100 ? 1500 : 1000;
        int most = 0;
        for (int i = 0; i < SNAPSHOTS; i++) {
            write(session, writer, i, pages);
            long began = System.nanoTime();
            rest.command(session, "checkpoint").demand();
            long took = millis(began);
            int ram = extents(session, "ram");
            most = Math.max(most, ram);
            if (i % SEEN_EVERY == SEEN_EVERY - 1) {
                keepFew(session);
                System.err.printf(
                        "FragmentsIT: %d snapshots: %d ms, extents of memory %d, of disk %d%n",
                        i + 1, took, ram, extents(session, "disk"));
            }
        }
        assertThat(most).as("extents, without which this proves nothing").isGreaterThan(3000);
        for (String file : List.of("ram", "disk")) {
            Await.until(
                    file + " has few extents",
                    STEP_MAX,
                    () -> extents(session, file) <= EXTENTS_MAX);
        }
        write(session, writer, SNAPSHOTS, 10);
        rest.command(session, "pause").demand();
        long began = System.nanoTime();
        rest.command(session, "resume").demand();
        System.err.printf("FragmentsIT: resumed in %d ms%n", millis(began));
        write(session, writer, SNAPSHOTS + 1, 10);
        rest.destroy(session);
    }
}
