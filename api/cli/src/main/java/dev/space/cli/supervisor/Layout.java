package dev.space.cli.supervisor;

import dev.space.cli.config.ConfigKey;
import dev.space.cli.config.SpaceConfig;
import dev.space.cli.platform.Accelerator;
import dev.space.cli.platform.Certificates;
import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.Owned;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.Ports;
import dev.space.cli.platform.Secrets;
import dev.space.cli.platform.Users;
import dev.space.cli.platform.Users.User;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;

/**
 * The users, directories and secrets of a platform, made at every start: what is there already is
 * only set right.
 */
record Layout(
        Platform platform,
        SpaceConfig config,
        Ports ports,
        User root,
        User postgres,
        User temporal,
        User control,
        User objects,
        List<NodePlace> nodes,
        Secrets secrets,
        Certificates certificates) {

    static Layout make(Platform platform, SpaceConfig config, List<NodePlace> nodes, Ports ports) {
        User root = new User("root", 0, 0);
        User postgres = Users.ensure("space-postgres");
        User temporal = Users.ensure("space-temporal");
        User control = Users.ensure("space-control");
        User objects = Users.ensure("space-objects");
        var _ = Owned.directory(platform.data(), root, "rwxr-xr-x");
        var _ = Owned.directory(platform.run(), root, "rwxr-xr-x");
        var _ = Owned.directory(platform.log(), root, "rwx------");
        var _ = Owned.directory(platform.data().resolve("temporal"), temporal, "rwx------");
        var _ = Owned.directory(platform.data().resolve("control"), control, "rwx------");
        var _ = Owned.directory(platform.data().resolve("objects"), objects, "rwx------");
        var _ = Owned.directory(platform.data().resolve("objects-state"), objects, "rwx------");
        var _ = Owned.directory(Path.of("/run/space"), root, "rwxr-xr-x");
        var _ = Owned.directory(platform.sockets(), root, "rwxr-xr-x");
        var _ = Owned.directory(platform.sockets().resolve("postgres"), postgres, "rwx------");
        nodes.forEach(place -> make(place, root));
        Secrets secrets = new Secrets(platform.secrets(), root);
        var _ = secrets.apiKey();
        var _ = secrets.operatorKey();
        return new Layout(
                platform,
                config,
                ports,
                root,
                postgres,
                temporal,
                control,
                objects,
                nodes,
                secrets,
                new Certificates(platform.secrets(), root, Clock.systemUTC()));
    }

    private static void make(NodePlace place, User root) {
        var _ = Owned.directory(place.managerDirectory(), root, "rwx--x--x");
        var _ = Owned.directory(place.managerDirectory().resolve("exits"), root, "rwx--x--x");
        var _ = Owned.directory(place.state(), worker(place), "rwx------");
        var _ = Owned.directory(place.sockets(), root, "rwxr-xr-x");
        User gateway = gateway(place);
        // The gateway makes its socket there, which gets the group of its node-worker, who alone
        // may pass besides.
        User shared = new User(gateway.name(), gateway.uid(), worker(place).gid());
        Owned.inheritGroup(Owned.directory(place.gatewaySockets(), shared, "rwxr-x---"));
    }

    /** Each node-worker has a user of its own: none can read another one's files. */
    static User worker(NodePlace place) {
        return Users.ensure(place.user());
    }

    /** Nor can the gateway, which has nothing to read. */
    static User gateway(NodePlace place) {
        return Users.ensure(place.gatewayUser());
    }

    boolean embeddedPostgres() {
        return config.text(ConfigKey.DATABASE_URL).isEmpty();
    }

    boolean embeddedTemporal() {
        return config.text(ConfigKey.TEMPORAL_TARGET).isEmpty();
    }

    boolean embeddedObjects() {
        return config.text(ConfigKey.OBJECT_STORE_ENDPOINT).isEmpty();
    }

    /** What a process needs to use the object store, embedded or not. */
    ProcessConfig objectStore(ProcessConfig settings, String role, User reader) {
        String outside = config.text(ConfigKey.OBJECT_STORE_ENDPOINT);
        String file = config.text(ConfigKey.OBJECT_STORE_SECRET_KEY_FILE);
        if (!outside.isEmpty() && file.isEmpty()) {
            throw new PlatformException(
                    ConfigKey.OBJECT_STORE_ENDPOINT.key()
                            + " is set: set "
                            + ConfigKey.OBJECT_STORE_SECRET_KEY_FILE.key()
                            + " too");
        }
        Path key =
                outside.isEmpty()
                        ? secrets.objectStoreKey(role, reader)
                        : secrets.outsideObjectStoreKey(Path.of(file), role, reader);
        String endpoint = outside.isEmpty() ? "http://127.0.0.1:" + ports.of("objects") : outside;
        return settings.set(ConfigKey.OBJECT_STORE_ENDPOINT.key(), endpoint)
                .set(
                        ConfigKey.OBJECT_STORE_REGION.key(),
                        config.text(ConfigKey.OBJECT_STORE_REGION))
                .set(
                        ConfigKey.OBJECT_STORE_BUCKET.key(),
                        config.text(ConfigKey.OBJECT_STORE_BUCKET))
                .set(ConfigKey.OBJECT_STORE_ACCESS_KEY.key(), accessKey())
                .set(ConfigKey.OBJECT_STORE_SECRET_KEY_FILE.key(), key);
    }

    String accessKey() {
        return config.text(ConfigKey.OBJECT_STORE_ACCESS_KEY);
    }

    String startSnapshots() {
        return StartSnapshots.of(platform, config);
    }

    /** Fails where the one that was asked for runs no guest. */
    Accelerator.Choice accelerator() {
        if (config.text(ConfigKey.NODE_ENGINE).equals("fake")) {
            return new Accelerator.Choice(Accelerator.TCG, "the fake engine needs none");
        }
        return new Accelerator(platform).choose(config.text(ConfigKey.NODE_ACCELERATOR));
    }

    PostgresCluster cluster() {
        return new PostgresCluster(
                platform,
                postgres,
                ports.of("postgres"),
                secrets.superuserPassword(),
                secrets.databasePassword(control));
    }
}
