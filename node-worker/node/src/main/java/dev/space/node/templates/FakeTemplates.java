package dev.space.node.templates;

import dev.space.model.ErrorCode;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Empty templates for the fake engine; every size is ready at once. */
public final class FakeTemplates implements TemplateSource {

    /** Digests of the two templates that a fake node has, by name. */
    public static final String DEFAULT_DIGEST = "fa".repeat(32);

    public static final String MINIMAL_DIGEST = "fb".repeat(32);

    private static final Set<String> DIGESTS = Set.of(DEFAULT_DIGEST, MINIMAL_DIGEST);

    private final Path directory;
    private volatile GuestToken token = GuestToken.fresh();

    public FakeTemplates(Volume volume) {
        this.directory = volume.templates().resolve("fake");
        volume.makeDirectory(directory);
        try {
            for (String name : List.of("disk", "ram", "device")) {
                if (!Files.exists(directory.resolve(name))) {
                    Files.createFile(directory.resolve(name));
                }
            }
        } catch (IOException e) {
            throw volume.failed("make " + directory, e);
        }
    }

    /** Makes all start snapshots anew, as after a change of the engine. */
    public void remake() {
        token = GuestToken.fresh();
    }

    @Override
    public TemplateInfo info(String digest) {
        if (!DIGESTS.contains(digest)) {
            throw new SpaceException(
                    ErrorCode.UNKNOWN_TEMPLATE, "this node has no template " + digest);
        }
        String name = digest.equals(DEFAULT_DIGEST) ? "default" : "minimal";
        return new TemplateInfo(name, digest, "", "user", 1000, 1000, "/home/user", 1);
    }

    @Override
    public boolean isReady(String digest, Size size) {
        return DIGESTS.contains(digest);
    }

    @Override
    public StartFiles start(String digest, Size size) {
        info(digest);
        return new StartFiles(directory, "", token);
    }

    @Override
    public Path root(String digest) {
        info(digest);
        return directory;
    }

    @Override
    public List<State> states() {
        List<Size> all = Arrays.asList(Size.values());
        return List.of(
                new State(DEFAULT_DIGEST, "default", all, true),
                new State(MINIMAL_DIGEST, "minimal", all, true));
    }
}
