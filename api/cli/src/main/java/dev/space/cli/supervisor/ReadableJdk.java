package dev.space.cli.supervisor;

import dev.space.cli.platform.Command;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.Users.User;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The JDK that the services run on. One in a home directory that other users cannot enter is copied
 * to the cache once.
 */
final class ReadableJdk {

    private static final Duration COPY_MAX = Duration.ofMinutes(3);

    private ReadableJdk() {}

    static Path of(Platform platform, User reader) {
        if (readable(platform.jdk(), reader)) {
            return platform.jdk();
        }
        Path copy = platform.cache().resolve("jdk").resolve(Runtime.version().toString());
        if (!Files.exists(copy)) {
            Path stage = copy.resolveSibling("." + copy.getFileName() + ".stage");
            try {
                Files.createDirectories(copy.getParent());
                var _ = Command.must(COPY_MAX, "rm", "-rf", stage.toString());
                var _ =
                        Command.must(
                                COPY_MAX, "cp", "-rL", platform.jdk().toString(), stage.toString());
                var _ = Command.must(COPY_MAX, "chmod", "-R", "go+rX", stage.toString());
                Files.move(stage, copy);
            } catch (IOException e) {
                throw new PlatformException("cannot copy the JDK to " + copy, e);
            }
        }
        if (!readable(copy, reader)) {
            throw new PlatformException(
                    reader.name() + " cannot read " + copy + ": let others enter its directories");
        }
        return copy;
    }

    private static boolean readable(Path jdk, User reader) {
        List<String> argv = new ArrayList<>(Launcher.asUser(reader, List.of()));
        argv.addAll(List.of("test", "-r", jdk.resolve("lib/modules").toString()));
        return Command.run(Duration.ofSeconds(10), argv).ok();
    }
}
