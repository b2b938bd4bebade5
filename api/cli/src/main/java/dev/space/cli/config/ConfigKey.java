package dev.space.cli.config;

import dev.space.model.Limits;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Every key that a user may set in the configuration file. The documentation is generated from this
 * list, and what is not in it stops start-up.
 */
public enum ConfigKey {
    PORT_CONTROL(
            "space.ports.control",
            Type.PORT,
            "0",
            "HTTP port of the API. 0 chooses a free one once."),
    PORT_POSTGRES("space.ports.postgres", Type.PORT, "0", "Port of the embedded PostgreSQL."),
    PORT_TEMPORAL("space.ports.temporal", Type.PORT, "0", "gRPC port of the embedded Temporal."),
    PORT_TEMPORAL_UI("space.ports.temporal-ui", Type.PORT, "0", "Port of Temporal's web UI."),
    PORT_TEMPORAL_HTTP("space.ports.temporal-http", Type.PORT, "0", "Port of Temporal's HTTP API."),
    PORT_TEMPORAL_METRICS(
            "space.ports.temporal-metrics", Type.PORT, "0", "Port of Temporal's metrics."),
    PORT_NODE_API("space.ports.node-api", Type.PORT, "0", "gRPC port of node-worker."),
    PORT_NODE_HTTP(
            "space.ports.node-http", Type.PORT, "0", "Health and metrics port of node-worker."),
    PORT_GATEWAY_HTTP(
            "space.ports.gateway-http",
            Type.PORT,
            "0",
            "Health and metrics port of the network gateway."),
    PORT_OBJECTS("space.ports.objects", Type.PORT, "0", "Port of the embedded object store (S3)."),
    DATABASE_URL(
            "space.database.url",
            Type.TEXT,
            "",
            "JDBC URL of an outside PostgreSQL. Empty starts the embedded one."),
    DATABASE_USER("space.database.user", Type.TEXT, "space", "User at the database."),
    DATABASE_PASSWORD_FILE(
            "space.database.password-file",
            Type.TEXT,
            "",
            "File with the password of an outside database, readable by space-control."),
    TEMPORAL_TARGET(
            "space.temporal.target",
            Type.TEXT,
            "",
            "host:port of an outside Temporal. Empty starts the embedded one."),
    TEMPORAL_NAMESPACE("space.temporal.namespace", Type.TEXT, "default", "Namespace at Temporal."),
    OBJECT_STORE_ENDPOINT(
            "space.object-store.endpoint",
            Type.TEXT,
            "",
            "URL of an outside S3 server. Empty starts the embedded one."),
    OBJECT_STORE_REGION(
            "space.object-store.region",
            Type.TEXT,
            "us-east-1",
            "Region that requests to an outside S3 server are signed for."),
    OBJECT_STORE_BUCKET(
            "space.object-store.bucket", Type.TEXT, "space", "Bucket of this platform alone."),
    OBJECT_STORE_ACCESS_KEY(
            "space.object-store.access-key",
            Type.TEXT,
            "space",
            "Name of the key at the S3 server."),
    OBJECT_STORE_SECRET_KEY_FILE(
            "space.object-store.secret-key-file",
            Type.TEXT,
            "",
            "File with the secret key of an outside S3 server, readable by root."),
    SNAPSHOTS_PER_SESSION(
            "space.control.snapshots-per-session",
            Type.COUNT,
            "256",
            "Snapshots that operations made in one session; beyond that the oldest that have no"
                    + " name go."),
    SNAPSHOTS_PER_PROJECT(
            "space.control.snapshots-per-project",
            Type.COUNT,
            "100000",
            "The same in all sessions of one project."),
    STORED_MIB_PER_PROJECT(
            "space.control.stored-mib-per-project",
            Type.AMOUNT,
            "0",
            "What a project's snapshots may take in the object store; beyond that the oldest that"
                    + " have no name go. 0: no bound."),
    NODES(
            "space.nodes",
            Type.NODES,
            "1",
            "Nodes that this machine runs side by side, for tests and demonstrations of what needs"
                    + " several; `up --nodes` for once. Keys of `space.node` hold for each."),
    NODE_ID(
            "space.node.id",
            Type.NODE_ID,
            "local",
            "Name of this node; never changed later. Further ones get `-2` and so on after it."),
    NODE_ENGINE("space.node.engine", Type.ENGINE, "qemu", "qemu, or fake: no VM, for load tests."),
    NODE_ACCELERATOR(
            "space.node.accelerator",
            Type.ACCELERATOR,
            "auto",
            "kvm, tcg (emulation), or auto: kvm where a guest really boots under it."),
    NODE_PREPARE(
            "space.node.prepare",
            Type.TEXT,
            "default:small",
            "Start snapshots (template:size, by comma) to make before the node is ready. Not set and"
                    + " `default` not built: `small` of a template that is."),
    NODE_SLOTS(
            "space.node.slots", Type.SLOTS, "64", "Sandboxes that may run at once on this node."),
    NODE_SLOT_UID_BASE(
            "space.node.slot-uid-base",
            Type.UID,
            "61000",
            "First of the numeric uids of sandboxes; as many as slots."),
    NODE_MEMORY_MIB(
            "space.node.memory-mib",
            Type.AMOUNT,
            "0",
            "Memory for sandboxes; 0 takes four fifths of the machine's, shared by its nodes."),
    NODE_DISK_RESERVE_MIB(
            "space.node.disk-reserve-mib",
            Type.AMOUNT,
            "1024",
            "Free space on the node's volume below which nothing new is made."),
    ROLLING_DISK_SECONDS(
            "space.node.rolling.disk-seconds",
            Type.AMOUNT,
            "20",
            "Seconds between disk snapshots of a session that changes; 0 takes none."),
    ROLLING_FULL_SECONDS(
            "space.node.rolling.full-seconds",
            Type.AMOUNT,
            "60",
            "Seconds between checkpoints (memory and disk) of a session that changes; 0 takes none."),
    ROLLING_FREEZE(
            "space.node.rolling.freeze",
            Type.SWITCH,
            "false",
            "Whether a disk snapshot waits until the guest's file system is at rest."),
    ROLLING_KEEP(
            "space.node.rolling.keep",
            Type.RETENTION,
            "20s:10m,1m:1h,10m:1d,1h:7d",
            "How many are kept: one of each span until an age, the finest first."),
    ROLLING_SNAPSHOTS_MAX(
            "space.node.rolling.snapshots-max",
            Type.COUNT,
            "512",
            "Snapshots of one session; beyond that the oldest that the node made go."),
    ROLLING_SESSION_MIB(
            "space.node.rolling.session-mib",
            Type.AMOUNT,
            "16384",
            "What snapshots of one session may cost on the node's disk; beyond that the oldest that"
                    + " the node made go. 0: no bound."),
    ROLLING_NODE_MIB(
            "space.node.rolling.node-mib",
            Type.AMOUNT,
            "0",
            "The same of all sessions of the node."),
    ROLLING_RESERVE_MIB(
            "space.node.rolling.reserve-mib",
            Type.AMOUNT,
            "2048",
            "Free space below which the node takes none by itself and its oldest go."),
    WORKFLOWS_AHEAD(
            "space.control.workflows-ahead",
            Type.POOL,
            "8",
            "Session workflows started before anybody asks for their sessions; 0 starts none."),
    POOL_HOT(
            "space.node.pool.hot",
            Type.POOL_OR_AUTO,
            "2",
            "Hot VMs that wait for sessions, of each entry of prepare; 0 keeps none, auto follows"
                    + " the demand."),
    POOL_PREPARED(
            "space.node.pool.prepared",
            Type.POOL,
            "1",
            "VMMs that wait for a snapshot to load, of each size in prepare; 0 keeps none."),
    POOL_MEMORY_MIB(
            "space.node.pool.memory-mib",
            Type.AMOUNT,
            "0",
            "Most memory for all that wait; 0 takes a quarter of the node's."),
    NODE_VOLUME_GIB(
            "space.node.volume-gib",
            Type.COUNT,
            "16",
            "Size of the btrfs loop image where the data directory is not on btrfs; preallocated."),
    EGRESS_RESOLVERS(
            "space.egress.resolvers",
            Type.TEXT,
            "",
            "DNS servers (ADDRESS[:PORT], by comma) that the gateway asks; empty: the machine's own."),
    EGRESS_DENIED(
            "space.egress.denied",
            Type.TEXT,
            "",
            "Addresses (CIDR, by comma) that no sandbox reaches, whatever its policy says."),
    EGRESS_EXTRA_ROOTS(
            "space.egress.extra-roots",
            Type.TEXT,
            "",
            "File with certificates (PEM) that the gateway trusts outside besides the machine's own."),
    CREDENTIALS_STORE(
            "space.credentials.store",
            Type.STORE,
            "sealed",
            "Where new secrets of credentials go: rows, sealed to the gateways, or a vault."),
    VAULT_ADDRESS(
            "space.credentials.vault.address",
            Type.TEXT,
            "",
            "URL of an OpenBao or Vault server; http on this machine only. Needed where a secret is"
                    + " in it."),
    VAULT_MOUNT(
            "space.credentials.vault.mount",
            Type.TEXT,
            "space",
            "Mount of its KV engine, version 2."),
    VAULT_PREFIX(
            "space.credentials.vault.prefix",
            Type.TEXT,
            "credentials",
            "First part of every path in it, which the policies name."),
    VAULT_CA_FILE(
            "space.credentials.vault.ca-file",
            Type.TEXT,
            "",
            "File with certificates (PEM) that its certificate is checked against; empty: the"
                    + " JDK's."),
    VAULT_CONTROL_ROLE_ID_FILE(
            "space.credentials.vault.control-role-id-file",
            Type.TEXT,
            "",
            "File with the role id of the control plane's AppRole, readable by root."),
    VAULT_CONTROL_SECRET_ID_FILE(
            "space.credentials.vault.control-secret-id-file",
            Type.TEXT,
            "",
            "File with its secret id, 0600."),
    VAULT_GATEWAY_ROLE_ID_FILE(
            "space.credentials.vault.gateway-role-id-file",
            Type.TEXT,
            "",
            "File with the role id of the gateways' AppRole, which is another one."),
    VAULT_GATEWAY_SECRET_ID_FILE(
            "space.credentials.vault.gateway-secret-id-file",
            Type.TEXT,
            "",
            "File with its secret id, 0600."),
    LOG_MAX_MIB(
            "space.log.max-mib",
            Type.COUNT,
            "16",
            "A process's log that grows longer is set aside (`control.log.1` and so on)."),
    LOG_KEEP(
            "space.log.keep",
            Type.AMOUNT,
            "4",
            "How many older logs of each process are kept; 0 keeps none.");

    /** What a value may be. */
    public enum Type {
        TEXT(".*", "text"),
        PORT("0|[1-9][0-9]{0,4}", 65_535, "a port"),
        COUNT("[1-9][0-9]{0,5}", "a number from 1"),
        NODES(
                "[1-9]",
                Limits.NODES_ON_MACHINE_MAX,
                "a number from 1 to " + Limits.NODES_ON_MACHINE_MAX),
        SLOTS("[1-9][0-9]{0,3}", 1024, "a number from 1 to 1024"),
        UID("[1-9][0-9]{4,8}", "a number from 10000"),
        AMOUNT("0|[1-9][0-9]{0,8}", "a number"),
        POOL_OR_AUTO("auto|[0-9]|[1-5][0-9]|6[0-4]", "a number from 0 to 64, or auto"),
        POOL("0|[1-9][0-9]?", 64, "a number from 0 to 64"),
        SWITCH("true|false", "true or false"),
        RETENTION(
                "[1-9][0-9]{0,5}[smhd]:[1-9][0-9]{0,5}[smhd]"
                        + "(, ?[1-9][0-9]{0,5}[smhd]:[1-9][0-9]{0,5}[smhd]){0,15}",
                "tiers like 1m:1h,10m:1d"),
        NODE_ID("[a-z0-9-]{1,40}", "lower-case letters, digits and hyphens"),
        ENGINE("qemu|fake", "qemu or fake"),
        STORE("sealed|vault", "sealed or vault"),
        ACCELERATOR("auto|tcg|kvm", "auto, tcg or kvm");

        private final Pattern form;
        private final int max;
        private final String words;

        Type(String form, String words) {
            this(form, Integer.MAX_VALUE, words);
        }

        /** Of numbers that end somewhere. */
        Type(String form, int max, String words) {
            this.form = Pattern.compile(form);
            this.max = max;
            this.words = words;
        }

        boolean accepts(String value) {
            return form.matcher(value).matches()
                    && (max == Integer.MAX_VALUE || Integer.parseInt(value) <= max);
        }

        public String words() {
            return words;
        }
    }

    private final String key;
    private final Type type;
    private final String fallback;
    private final String meaning;

    ConfigKey(String key, Type type, String fallback, String meaning) {
        this.key = key;
        this.type = type;
        this.fallback = fallback;
        this.meaning = meaning;
    }

    public String key() {
        return key;
    }

    public Type type() {
        return type;
    }

    public String fallback() {
        return fallback;
    }

    public String meaning() {
        return meaning;
    }

    static Optional<ConfigKey> of(String key) {
        return Arrays.stream(values()).filter(k -> k.key.equals(key)).findFirst();
    }
}
