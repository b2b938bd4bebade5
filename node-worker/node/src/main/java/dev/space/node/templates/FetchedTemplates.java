package dev.space.node.templates;

import dev.space.durable.TransferControl;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.volumes.DurableFiles;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Templates whose root file system is on this node's volume, and how one of another node comes
 * here: from the object store, once whoever asks, in staging until all of it was verified.
 */
final class FetchedTemplates {

    private static final Logger LOG = LoggerFactory.getLogger(FetchedTemplates.class);

    /** Free space that must be left beside the reserve. */
    private static final long ROOM_BYTES = 64L << 20;

    private static final String DISK = "disk";
    private static final String NAMES = "by-name";

    private final Volume volume;
    private final TemplateStore store;
    private final SingleFlight<TemplateInfo> flights = new SingleFlight<>();
    private final Map<String, Fetch> running = new ConcurrentHashMap<>();

    FetchedTemplates(Volume volume, TemplateStore store) {
        this.volume = volume;
        this.store = store;
    }

    private record Fetch(String name, long done, long total) {
        @Override
        public String toString() {
            return "template %s is being fetched, %d of %d MiB"
                    .formatted(name, done >> 20, total >> 20);
        }
    }

    private Path root(String digest) {
        return volume.templates().resolve(digest).resolve("root");
    }

    /** Of one that is here. */
    Optional<TemplateInfo> info(String digest) {
        return TemplateJson.read(root(digest), digest);
    }

    /** Every one that is here. */
    List<TemplateInfo> all() {
        return Volume.children(volume.templates()).stream()
                .map(each -> each.getFileName().toString())
                .flatMap(digest -> info(digest).stream())
                .toList();
    }

    /** Fails where neither this node nor the object store has it. */
    void requireKnown(String digest) {
        if (info(digest).isEmpty() && store.find(digest).isEmpty()) {
            throw unknown(digest);
        }
    }

    static SpaceException unknown(String digest) {
        return new SpaceException(
                ErrorCode.UNKNOWN_TEMPLATE,
                "this node has no template " + digest + ", nor has the object store");
    }

    /** The template, fetched first when it is not here. */
    TemplateInfo bring(String digest) {
        Optional<TemplateInfo> there = info(digest);
        return there.isPresent()
                ? there.get()
                : flights.get(digest, () -> info(digest).orElseGet(() -> fetch(digest)));
    }

    private TemplateInfo fetch(String digest) {
        TemplateStore.Located stored = store.find(digest).orElseThrow(() -> unknown(digest));
        final long begin = System.nanoTime();
        volume.requireSpace(ROOM_BYTES + stored.bytesLogical());
        Path staged = volume.newStaging("template");
        running.put(digest, new Fetch(stored.name(), 0, stored.bytesStored()));
        try {
            LOG.info("fetching template {} ({})", stored.name(), digest);
            store.fetch(digest, staged, progress(stored));
            requireWhole(staged, digest);
            volume.makeDirectory(volume.templates().resolve(digest));
            // A root without its description is from a release that did not keep it.
            volume.discard(root(digest));
            volume.publish(staged, root(digest));
        } catch (IOException e) {
            throw volume.failed("fetch template " + stored.name(), e);
        } finally {
            running.remove(digest);
            volume.discard(staged);
        }
        LOG.info(
                "template {} fetched in {} ms",
                stored.name(),
                (System.nanoTime() - begin) / 1_000_000);
        return info(digest).orElseThrow();
    }

    private TransferControl progress(TemplateStore.Located stored) {
        return new TransferControl() {
            @Override
            public boolean cancelled() {
                return false;
            }

            @Override
            public void progress(long done, long total) {
                running.put(stored.digest(), new Fetch(stored.name(), done, total));
            }
        };
    }

    /** The parts were verified one by one; together they must be this template. */
    private static void requireWhole(Path staged, String digest) throws IOException {
        List<String> files =
                Volume.children(staged).stream().map(f -> f.getFileName().toString()).toList();
        if (!files.equals(List.of(DISK, TemplateJson.FILE))
                || !Files.isRegularFile(staged.resolve(DISK), LinkOption.NOFOLLOW_LINKS)
                || !TemplateJson.isOf(staged, digest)) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_CORRUPT,
                    "what is stored as template %s is another one: %s".formatted(digest, files));
        }
    }

    /** Names that stand for templates of the object store here, with their digests. */
    Map<String, String> names() {
        return Volume.children(volume.templates().resolve(NAMES)).stream()
                .filter(file -> !file.getFileName().toString().endsWith(".next"))
                .collect(Collectors.toMap(f -> f.getFileName().toString(), this::digestIn));
    }

    private String digestIn(Path name) {
        try {
            return Files.readString(name).strip();
        } catch (IOException e) {
            throw volume.failed("read " + name, e);
        }
    }

    /** Brings what the name means in the installation, and keeps the name for it. */
    Optional<String> bringNamed(String name) {
        Optional<String> digest = store.named(name).map(TemplateStore.Located::digest);
        digest.ifPresent(found -> {
            var _ = bring(found);
            Path names = volume.templates().resolve(NAMES);
            volume.makeDirectory(names);
            try {
                DurableFiles.replace(
                        names.resolve(name), (found + "\n").getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw volume.failed("name template " + name, e);
            }
        });
        return digest;
    }

    /** What is on its way, in words; empty when nothing is. */
    String progress() {
        return running.values().stream().map(Fetch::toString).collect(Collectors.joining("; "));
    }
}
