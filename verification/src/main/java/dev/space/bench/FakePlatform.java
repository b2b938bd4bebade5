package dev.space.bench;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/**
 * A whole platform of its own whose engine is fake: real servers, real processes, no VM. It is
 * started by the same command as any other, and gone when it is closed.
 */
final class FakePlatform implements AutoCloseable {

    /** As many as a node may have: the sessions of a run are all there at once. */
    static final int SLOTS = 1024;

    static final String CONFIGURATION =
            """
            space:
              node:
                id: bench
                engine: fake
                prepare: default:small
                slots: %d
                memory-mib: 999999
                slot-uid-base: 200000
                volume-gib: 2
                rolling: {disk-seconds: 0, full-seconds: 0}
                pool: {hot: 0, prepared: 0}
            """
                    .formatted(SLOTS);

    private final Path data;

    private FakePlatform(Path data) {
        this.data = data;
    }

    static FakePlatform start() throws IOException {
        Path data = Files.createTempDirectory(Path.of("/var/tmp"), "space-bench.");
        Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(data.resolve("space.yaml"), CONFIGURATION);
        FakePlatform platform = new FakePlatform(data);
        boolean up = false;
        try {
            platform.space("up");
            up = true;
            return platform;
        } finally {
            if (!up) {
                platform.close();
            }
        }
    }

    Path data() {
        return data;
    }

    /** Its output goes to standard error, because standard output is for figures. */
    private void space(String command) throws IOException {
        String home = System.getenv("SPACE_HOME");
        if (home == null) {
            throw new IllegalStateException("SPACE_HOME is not set: start this by ./space bench");
        }
        List<String> argv = new ArrayList<>(List.of(home + "/space", command));
        ProcessBuilder builder =
                new ProcessBuilder(argv)
                        .redirectErrorStream(true)
                        .redirectOutput(Redirect.appendTo(Path.of("/dev/stderr").toFile()));
        builder.environment().put("SPACE_DATA", data.toString());
        builder.environment().put("SPACE_CONFIG", data.resolve("space.yaml").toString());
        int code = builder.start().onExit().join().exitValue();
        if (code != 0) {
            throw new IOException("`./space " + command + "` ended with code " + code);
        }
    }

    @Override
    public void close() throws IOException {
        space("down");
        Process removal =
                new ProcessBuilder("rm", "-rf", "--one-file-system", data.toString())
                        .inheritIO()
                        .start();
        int code = removal.onExit().join().exitValue();
        if (code != 0) {
            throw new IOException("cannot remove " + data);
        }
    }
}
