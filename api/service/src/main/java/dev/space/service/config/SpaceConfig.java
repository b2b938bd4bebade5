package dev.space.service.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** Everything the control plane can be told. Keys that cross modules: docs/contracts.md. */
@ConfigMapping(prefix = "space")
public interface SpaceConfig {
    /** What this process does: {@code api}, {@code worker}, or both. */
    @WithDefault("api,worker")
    Set<String> roles();

    Database database();

    Temporal temporal();

    Node node();

    Control control();

    ObjectStore objectStore();

    Credentials credentials();

    /** The shared database. */
    interface Database {
        /** JDBC address of PostgreSQL. */
        String url();

        /** User of the database. */
        String user();

        /** File that holds the password; without one, none is sent. */
        Optional<Path> passwordFile();

        /** Connections that one process holds at most. */
        @WithDefault("24")
        int connectionsMax();
    }

    /** The workflow server. */
    interface Temporal {
        /** gRPC address, {@code host:port}. */
        String target();

        /** Namespace of the session workflows. */
        @WithDefault("default")
        String namespace();
    }

    /** Nodes. */
    interface Node {
        /** File with the shared secret of the node API and of NodeReports. */
        Path tokenFile();

        /** How long a node may go on without renewing its lease. */
        @WithDefault("15s")
        Duration lease();
    }

    /** The control plane itself. */
    interface Control {
        /** File with 32 bytes in base64 that encrypt the sessions' environments. */
        Path envKeyFile();

        /**
         * File with the public keyset to which credentials are sealed; without one there are no
         * credentials.
         */
        Optional<Path> credentialKeysetFile();

        /** File with the first API key; its hash is inserted at start. */
        Optional<Path> bootstrapKeyFile();

        /** File with the key that opens {@code /operator}; without one nothing does. */
        Optional<Path> operatorKeyFile();

        /** How often the reconciler looks. */
        @WithDefault("10s")
        Duration reconcileEvery();

        /** How often organisations' own keys are looked at; two refusals in a row are meant. */
        @WithDefault("10s")
        Duration keyWatchEvery();

        /** How long such a key may be unreachable before it counts as revoked. */
        @WithDefault("1h")
        Duration keyUnreachableMax();

        /** How often the object store is rid of what no row needs. */
        @WithDefault("1h")
        Duration garbageEvery();

        /** Age at which a REQUESTED row is sent again. */
        @WithDefault("20s")
        Duration resendAfter();

        /** How long idempotency keys are kept after their operation ended. */
        @WithDefault("24h")
        Duration idempotencyKeep();

        /** Snapshots that operations made in one session; beyond that the oldest unnamed go. */
        @WithDefault("256")
        int snapshotsPerSession();

        /** The same in all sessions of one project. */
        @WithDefault("100000")
        int snapshotsPerProject();

        /** What a project's snapshots may take in the object store in MiB; 0: no bound. */
        @WithDefault("0")
        long storedMibPerProject();

        /** Pollers of the control queue's workers, for workflows and for activities each. */
        @WithDefault("8")
        int pollers();

        /**
         * Session workflows that are started before anybody asks for their sessions, 0 to 64: a
         * creation that finds one waits for one round through Temporal instead of several.
         */
        @WithDefault("8")
        int workflowsAhead();
    }

    /** The object store, of which the control plane only removes what no row needs. */
    interface ObjectStore {
        /** URL of the S3 server; without it nothing is ever removed. */
        Optional<String> endpoint();

        /** Region that requests are signed for. */
        @WithDefault("us-east-1")
        String region();

        /** Bucket of the platform. */
        @WithDefault("space")
        String bucket();

        /** Name of the access key; needed with an endpoint. */
        Optional<String> accessKey();

        /** File with the secret key that belongs to it. */
        Optional<Path> secretKeyFile();
    }

    /** Where secrets of credentials are kept. */
    interface Credentials {
        /** Where new ones go: {@code sealed} (rows) or {@code vault}. */
        @WithDefault("sealed")
        String store();

        Vault vault();
    }

    /** An OpenBao or Vault server with a KV engine of version 2. */
    interface Vault {
        /** URL of the server; http on this machine only. */
        Optional<String> address();

        /** Mount of the KV engine. */
        @WithDefault("space")
        String mount();

        /** First part of every path, which the policies name. */
        @WithDefault("credentials")
        String prefix();

        /** File with certificates (PEM) that the server's is checked against. */
        Optional<Path> caFile();

        /** File with the role id of this process's AppRole. */
        Optional<Path> roleIdFile();

        /** File with its secret id; read at each log-in. */
        Optional<Path> secretIdFile();
    }
}
