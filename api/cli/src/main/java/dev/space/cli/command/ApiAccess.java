package dev.space.cli.command;

import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.Ports;
import dev.space.cli.platform.Secrets;
import dev.space.client.SpaceClient;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds the API and the key: from the environment, else from the platform on this machine. */
final class ApiAccess {

    private ApiAccess() {}

    static boolean isRemote() {
        return given(System.getenv(), "SPACE_API_URL") != null;
    }

    static SpaceClient open(Platform platform) {
        return open(platform, System.getenv());
    }

    static SpaceClient open(Platform platform, Map<String, String> env) {
        String url = given(env, "SPACE_API_URL");
        String key = given(env, "SPACE_API_KEY");
        if (url == null) {
            url = localUrl(platform);
        }
        if (key == null) {
            key = Secrets.read(platform.apiKey());
        }
        try {
            return new SpaceClient(new URI(url), key.strip());
        } catch (URISyntaxException e) {
            throw new PlatformException(
                    "SPACE_API_URL is \"" + url + "\", which is no address: " + e.getReason(), e);
        }
    }

    /** Set to nothing means not set, as for the launcher. */
    private static @Nullable String given(Map<String, String> env, String name) {
        String value = env.get(name);
        return value == null || value.isBlank() ? null : value;
    }

    /**
     * For looking: every project's sessions where this user may, else those of the key's project.
     */
    static SpaceClient widest(Platform platform) {
        if (isRemote() || !Files.isReadable(platform.operatorKey())) {
            return open(platform);
        }
        return operator(platform);
    }

    /** Every project's sessions; for root on this machine. */
    static SpaceClient operator(Platform platform) {
        return new SpaceClient(
                URI.create(localUrl(platform) + "/operator"), Secrets.read(platform.operatorKey()));
    }

    static String localUrl(Platform platform) {
        return Ports.stored(platform)
                .map(ports -> "http://127.0.0.1:" + ports.of("control"))
                .orElseThrow(() ->
                        new PlatformException(
                                "no platform was started with "
                                        + platform.data()
                                        + ": run `./space up`, or set SPACE_API_URL and"
                                        + " SPACE_API_KEY"));
    }
}
