package dev.space.node.templates;

import dev.space.model.ErrorCode;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.node.volumes.DurableFiles;
import dev.space.node.volumes.Json;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The templates of the machine's cache, and those that were fetched, with their start snapshots on
 * this node's volume.
 */
public final class CacheTemplates implements TemplateSource {

    private static final Logger LOG = LoggerFactory.getLogger(CacheTemplates.class);
    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

    private final Path cache;
    private final Path names;
    private final Volume volume;
    private final Maker maker;
    private final FetchedTemplates fetched;
    private final SingleFlight<StartFiles> making = new SingleFlight<>();

    /**
     * @param names directory with a file for each name: the digest that it stands for. Platforms of
     *     several releases share one cache, and a name means another template in each.
     * @param store has what other nodes built
     */
    public CacheTemplates(Path cache, Path names, Volume volume, TemplateStore store, Maker maker) {
        this.cache = cache;
        this.names = names;
        this.volume = volume;
        this.fetched = new FetchedTemplates(volume, store);
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
        return here(digest)
                .orElseThrow(() ->
                        new SpaceException(
                                ErrorCode.UNKNOWN_TEMPLATE, "this node has no template " + digest));
    }

    private Optional<TemplateInfo> here(String digest) {
        if (!DIGEST.matcher(digest).matches()) {
            return Optional.empty();
        }
        Optional<TemplateInfo> built = TemplateJson.read(published(digest), digest);
        return built.isPresent() ? built : fetched.info(digest);
    }

    private TemplateInfo bring(String digest) {
        if (!DIGEST.matcher(digest).matches()) {
            throw FetchedTemplates.unknown(digest);
        }
        return here(digest).orElseGet(() -> fetched.bring(digest));
    }

    @Override
    public void requireKnown(String digest) {
        if (here(digest).isEmpty()) {
            if (!DIGEST.matcher(digest).matches()) {
                throw FetchedTemplates.unknown(digest);
            }
            fetched.requireKnown(digest);
        }
    }

    @Override
    public Optional<String> bringNamed(String name) {
        return fetched.bringNamed(name);
    }

    @Override
    public String progress() {
        return fetched.progress();
    }

    @Override
    public boolean isReady(String digest, Size size) {
        return here(digest).flatMap(template -> find(template, size)).isPresent();
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
        TemplateInfo template = bring(digest);
        Optional<StartFiles> there = find(template, size);
        return there.isPresent()
                ? there.get()
                : making.get(
                        digest + ":" + size,
                        () ->
                                find(template, size)
                                        .orElseGet(() -> {
                                            make(template, size);
                                            return find(template, size).orElseThrow();
                                        }));
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
        TemplateInfo template = bring(digest);
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
            describe(template.digest(), staged);
        } catch (IOException e) {
            volume.discard(staged);
            throw volume.failed("import template " + template.name(), e);
        }
        volume.publish(staged, root);
        return root;
    }

    /**
     * Its root file system on this volume with its description, which roots of earlier releases
     * lack: all that another node needs of it.
     */
    Path describedRoot(String digest) {
        Path root = root(digest);
        try {
            if (!Files.exists(root.resolve(TemplateJson.FILE), LinkOption.NOFOLLOW_LINKS)) {
                describe(digest, root);
                DurableFiles.syncDirectory(root);
            }
            return root;
        } catch (IOException e) {
            throw volume.failed("describe template " + digest, e);
        }
    }

    private void describe(String digest, Path directory) throws IOException {
        DurableFiles.writeNew(
                directory.resolve(TemplateJson.FILE),
                Files.readAllBytes(published(digest).resolve(TemplateJson.FILE)));
    }

    @Override
    public List<State> states() {
        Map<String, String> named = new TreeMap<>();
        for (Path name : Volume.children(names)) {
            if (name.getFileName().toString().startsWith(".")) {
                // It is being written.
                continue;
            }
            try {
                named.put(name.getFileName().toString(), Files.readString(name).strip());
            } catch (IOException e) {
                LOG.warn("{} cannot be read", name, e);
            }
        }
        fetched.names().forEach(named::putIfAbsent);
        List<State> all = new ArrayList<>();
        named.forEach((name, digest) -> {
            try {
                // Where it is not here yet, preparation fetches it or says what is missing.
                here(digest).ifPresent(template -> all.add(state(template, name, true)));
            } catch (SpaceException e) {
                LOG.warn("{} names no usable template", name, e);
            }
        });
        fetched.all().stream()
                .filter(template -> !named.containsValue(template.digest()))
                .forEach(template -> all.add(state(template, template.name(), false)));
        return all;
    }

    private State state(TemplateInfo template, String name, boolean isNamed) {
        List<Size> ready =
                Arrays.stream(Size.values()).filter(s -> find(template, s).isPresent()).toList();
        return new State(template.digest(), name, ready, isNamed);
    }
}
