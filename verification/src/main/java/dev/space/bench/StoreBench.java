package dev.space.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.bench.floor.ColdStart;
import dev.space.bench.floor.RawStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Suspends a session in which so many MB of memory were written with what cannot be compressed, and
 * restores it. {@code suspend}: the whole call, the pause of the running session included; its
 * floor writes as many bytes as were sent into the same object store, in objects of the packs' size
 * and several at once. {@code restore}: the call until a first command's output, after the node's
 * own copies were removed, so that everything is downloaded as on any other node; its floor reads
 * as many bytes and then restores a bare VM.
 */
final class StoreBench {

    private static final int[] DIRTY_MB = {100, 10};
    private static final String[] COMMAND = {"/bin/echo", "out"};

    private final Options options;
    private final Target target;

    StoreBench(Options options, Target target) {
        this.options = options;
        this.target = target;
    }

    /** What one mode measured. */
    private static final class Mode {
        final int megabytes;
        final Samples suspend = new Samples();
        final Samples put = new Samples();
        final Samples restore = new Samples();
        final Samples get = new Samples();
        double uploaded;
        double downloaded;

        Mode(int megabytes) {
            this.megabytes = megabytes;
        }
    }

    List<BenchResult> run() throws Exception {
        List<Mode> modes = new ArrayList<>();
        String session = target.create().id();
        try (ColdStart cold = target.coldStart();
                RawStore store = RawStore.open(target.nodeSettings())) {
            // The first upload has all that differs from the template; it belongs to no mode.
            once(new Mode(1), session, store, cold);
            for (int megabytes : DIRTY_MB) {
                Mode mode = new Mode(megabytes);
                modes.add(mode);
                for (int i = 0; i < options.n(); i++) {
                    once(mode, session, store, cold);
                }
            }
        } finally {
            target.destroy(session);
        }
        return modes.stream().map(this::result).toList();
    }

    private BenchResult result(Mode mode) {
        String name = mode.megabytes + " MB";
        boolean suspends = options.bench().equals("suspend");
        Samples times = suspends ? mode.suspend : mode.restore;
        Samples floor = suspends ? mode.put : mode.get;
        // A restore's floor does more than read: it has no throughput of its own to compare.
        Map<String, Double> extra =
                suspends
                        ? Map.of(
                                "bytes",
                                mode.uploaded,
                                "throughput_ratio",
                                floor.millis(50) / times.millis(50))
                        : Map.of("bytes", mode.downloaded);
        return new BenchResult(
                options.bench(),
                name,
                options.n(),
                times,
                suspends ? "raw put" : "raw get + cold",
                floor,
                extra);
    }

    private void once(Mode mode, String session, RawStore store, ColdStart cold) throws Exception {
        // In memory: a file of a file system that lives there.
        target.exec(
                session,
                "/bin/sh",
                "-c",
                "head -c " + mode.megabytes + "000000 /dev/urandom >/dev/shm/dirty");
        long began = System.nanoTime();
        var _ = target.client().command(session, "suspend");
        mode.suspend.add(Duration.ofNanos(System.nanoTime() - began));
        JsonNode stored = newest(session).path("stored");
        mode.uploaded = stored.path("bytesUploaded").asDouble();
        mode.downloaded = stored.path("bytesStored").asDouble();
        mode.put.add(store.put((long) mode.uploaded));

        removeCopies(session);
        began = System.nanoTime();
        var _ = target.client().command(session, "restore");
        target.exec(session, COMMAND);
        mode.restore.add(Duration.ofNanos(System.nanoTime() - began));
        Duration get = store.get((long) mode.downloaded);
        mode.get.add(get.plus(ResumeBench.restore(cold)));
        store.clear();
    }

    private JsonNode newest(String session) {
        String id =
                target.client().sessionAsJson(session).path("durable").path("snapshot").asText();
        for (JsonNode snapshot : target.client().snapshots(session).path("snapshots")) {
            if (snapshot.path("id").asText().equals(id)) {
                return snapshot;
            }
        }
        throw new IllegalStateException("no stored snapshot of " + session);
    }

    /** What another node would not have. */
    private void removeCopies(String session) throws IOException, InterruptedException {
        try (Stream<Path> volumes = Files.list(options.data().resolve("node/volumes"))) {
            for (Path volume : volumes.toList()) {
                Path copies = volume.resolve("sessions").resolve(session).resolve("snapshots");
                if (new ProcessBuilder("rm", "-rf", copies.toString()).start().waitFor() != 0) {
                    throw new IOException("cannot remove " + copies);
                }
            }
        }
    }
}
