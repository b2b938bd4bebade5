package dev.space.node.templates;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.model.ErrorCode;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.node.volumes.Json;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The templates of the machine's cache, with their start snapshots on this node's volume. */
public final class CacheTemplates implements TemplateSource {

    private static final Logger LOG = LoggerFactory.getLogger(CacheTemplates.class);
    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

    private final Path cache;
    private final Path names;
    private final Volume volume;
    private final Maker maker;
    private final ConcurrentHashMap<String, CompletableFuture<StartFiles>> making =
            new ConcurrentHashMap<>();

    /**
     * @param names directory with a file for each name: the digest that it stands for. Platforms of
     *     several releases share one cache, and a name means another template in each.
     */
    public CacheTemplates(Path cache, Path names, Volume volume, Maker maker) {
        this.cache = cache;
        this.names = names;
        this.volume = volume;
        this.maker = maker;
    }

    /** Makes what is not there. */
    interface Maker {

        /** False where another engine, bundle, accelerator or CPU made it. */
        default boolean loads(StartMeta meta) {
            return true;
        }

        /**
         * Publishes the start snapshot of one size in the target directory.
         *
         * @param root directory of the template's root file system
         */
        void make(TemplateInfo template, Size size, Path root, Path target);
    }

    private Path published(String digest) {
        return cache.resolve("templates").resolve(digest);
    }

    private Path start(TemplateInfo template, Size size) {
        return volume.templates().resolve(template.digest()).resolve(size.wireName());
    }

    @Override
    public TemplateInfo info(String digest) {
        Path file = published(digest).resolve("template.json");
        if (!DIGEST.matcher(digest).matches()
                || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new SpaceException(
                    ErrorCode.UNKNOWN_TEMPLATE, "this node has no template " + digest);
        }
        try {
            JsonNode json = Json.MAPPER.readTree(Files.readAllBytes(file));
            return new TemplateInfo(
                    json.required("name").asText(),
                    digest,
                    json.required("bundle").asText(),
                    json.required("user").asText(),
                    json.required("uid").asInt(),
                    json.required("gid").asInt(),
                    json.required("home").asText(),
                    json.required("minDiskMiB").asInt());
        } catch (IOException | IllegalArgumentException e) {
            throw new SpaceException(
                    ErrorCode.INTERNAL, file + " cannot be read; build the template again", e);
        }
    }

    @Override
    public boolean isReady(String digest, Size size) {
        return find(info(digest), size).isPresent();
    }

    private Optional<StartFiles> find(TemplateInfo template, Size size) {
        Path directory = start(template, size);
        Path file = directory.resolve(StartMeta.FILE);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        try {
            StartMeta meta = Json.MAPPER.readValue(Files.readAllBytes(file), StartMeta.class);
            // What cannot be loaded stays until its place is needed: the accelerator may return.
            return maker.loads(meta)
                    ? Optional.of(new StartFiles(directory, meta.bundle(), meta.token()))
                    : Optional.empty();
        } catch (IOException e) {
            LOG.warn("{} cannot be read and is made again", directory, e);
            volume.discard(directory);
            return Optional.empty();
        }
    }

    @Override
    public StartFiles start(String digest, Size size) {
        TemplateInfo template = info(digest);
        Optional<StartFiles> there = find(template, size);
        if (there.isPresent()) {
            return there.get();
        }
        String key = digest + ":" + size;
        CompletableFuture<StartFiles> mine = new CompletableFuture<>();
        CompletableFuture<StartFiles> other = making.putIfAbsent(key, mine);
        if (other != null) {
            return join(other);
        }
        try {
            // It may have been finished between the first look and now.
            mine.complete(
                    find(template, size)
                            .orElseGet(() -> {
                                make(template, size);
                                return find(template, size).orElseThrow();
                            }));
        } catch (RuntimeException | Error e) {
            // Every waiter is told; the next caller tries anew.
            mine.completeExceptionally(e);
        } finally {
            making.remove(key, mine);
        }
        return join(mine);
    }

    private static StartFiles join(CompletableFuture<StartFiles> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof SpaceException known) {
                throw new SpaceException(known.code(), String.valueOf(known.getMessage()), known);
            }
            throw e;
        }
    }

    private void make(TemplateInfo template, Size size) {
        if (template.minDiskMiB() > size.diskMiB()) {
            throw new SpaceException(
                    ErrorCode.UNKNOWN_SIZE,
                    "template "
                            + template.name()
                            + " needs a disk of "
                            + template.minDiskMiB()
                            + " MiB; size "
                            + size.wireName()
                            + " has "
                            + size.diskMiB());
        }
        volume.makeDirectory(volume.templates().resolve(template.digest()));
        Path root = importRoot(template);
        maker.make(template, size, root, start(template, size));
    }

    @Override
    public Path root(String digest) {
        TemplateInfo template = info(digest);
        volume.makeDirectory(volume.templates().resolve(digest));
        return importRoot(template);
    }

    /** The root file system on this volume, so that it can be cloned. */
    private synchronized Path importRoot(TemplateInfo template) {
        Path root = volume.templates().resolve(template.digest()).resolve("root");
        if (Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS)) {
            return root;
        }
        Path staged = volume.newStaging("import");
        try {
            Path source = published(template.digest()).resolve("rootfs.ext4");
            volume.requireSpace(Files.size(source));
            CompactCopy.copy(source, staged.resolve("disk"));
        } catch (IOException e) {
            volume.discard(staged);
            throw volume.failed("import template " + template.name(), e);
        }
        volume.publish(staged, root);
        return root;
    }

    @Override
    public List<State> states() {
        List<State> all = new ArrayList<>();
        for (Path name : Volume.children(names)) {
            if (name.getFileName().toString().startsWith(".")) {
                // It is being written.
                continue;
            }
            try {
                TemplateInfo template = info(Files.readString(name).strip());
                all.add(
                        new State(
                                template.digest(),
                                name.getFileName().toString(),
                                Arrays.stream(Size.values())
                                        .filter(s -> find(template, s).isPresent())
                                        .toList()));
            } catch (IOException | SpaceException e) {
                LOG.warn("{} names no usable template", name, e);
            }
        }
        return all;
    }
}
