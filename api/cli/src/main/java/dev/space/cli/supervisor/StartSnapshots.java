package dev.space.cli.supervisor;

import dev.space.cli.config.ConfigKey;
import dev.space.cli.config.SpaceConfig;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.model.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The start snapshots that the node makes before it is ready: what the user configured, else those
 * of the default template, else of whichever one is built. A node that waited for a template that
 * nobody builds would never be ready.
 */
final class StartSnapshots {

    private static final String DEFAULT_SIZE = Size.SMALL.wireName();

    private StartSnapshots() {}

    /** Comma-separated, each {@code template:size}; every template of them is built. */
    static String of(Platform platform, SpaceConfig config) {
        String wanted = config.text(ConfigKey.NODE_PREPARE);
        if (config.text(ConfigKey.NODE_ENGINE).equals("fake")) {
            return wanted;
        }
        List<String> built = built(platform);
        if (!config.isSet(ConfigKey.NODE_PREPARE) && !built.contains(template(wanted))) {
            return built.isEmpty()
                    ? missing(wanted, built, platform)
                    : built.getFirst() + ":" + DEFAULT_SIZE;
        }
        for (String each : wanted.split(",", -1)) {
            check(each.strip(), built, platform);
        }
        return wanted;
    }

    private static void check(String each, List<String> built, Platform platform) {
        if (each.isEmpty()) {
            return;
        }
        List<String> sizes = Arrays.stream(Size.values()).map(Size::wireName).toList();
        String size = each.substring(each.indexOf(':') + 1);
        if (!each.contains(":") || !sizes.contains(size)) {
            throw new PlatformException(
                    "%s in %s has \"%s\", but each must be template:size with a size of %s"
                            .formatted(
                                    ConfigKey.NODE_PREPARE.key(), platform.config(), each, sizes));
        }
        if (!built.contains(template(each))) {
            var _ = missing(each, built, platform);
        }
    }

    private static String missing(String each, List<String> built, Platform platform) {
        String template = template(each);
        String instead =
                built.isEmpty()
                        ? ""
                        : "; or set %s: [%s:%s] in %s"
                                .formatted(
                                        ConfigKey.NODE_PREPARE.key(),
                                        built.getFirst(),
                                        DEFAULT_SIZE,
                                        platform.config());
        throw new PlatformException(
                "%s names the template %s, which is not built (built: %s). Build it: "
                                .formatted(
                                        ConfigKey.NODE_PREPARE.key(),
                                        template,
                                        built.isEmpty() ? "none" : String.join(", ", built))
                        + "`SPACE_TEMPLATES=%s ./space prepare`%s".formatted(template, instead));
    }

    private static String template(String each) {
        int colon = each.indexOf(':');
        return colon < 0 ? each : each.substring(0, colon);
    }

    private static List<String> built(Platform platform) {
        Path templates = platform.cache().resolve("templates");
        Path names = platform.templateNames();
        if (!Files.isDirectory(names)) {
            return List.of();
        }
        List<String> found = new ArrayList<>();
        try (Stream<Path> all = Files.list(names)) {
            for (Path name : all.sorted().toList()) {
                String digest = Files.readString(name).strip();
                if (Files.exists(templates.resolve(digest).resolve("template.json"))) {
                    found.add(String.valueOf(name.getFileName()));
                }
            }
            return found;
        } catch (IOException e) {
            throw new PlatformException("cannot read " + names + ": " + e.getMessage(), e);
        }
    }
}
