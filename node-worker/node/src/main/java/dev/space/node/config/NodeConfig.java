package dev.space.node.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Configuration of the node process. */
@ConfigMapping(prefix = "space")
public interface NodeConfig {

    /** Where the Temporal server is. */
    Temporal temporal();

    /** Where the control plane is. */
    Control control();

    /** Where snapshots outlive the node. */
    ObjectStore objectStore();

    /** This node. */
    Node node();

    /** The Temporal server. */
    interface Temporal {

        /** Address of the Temporal server's gRPC port; without it the node serves gRPC only. */
        Optional<String> target();

        /** Namespace of the platform's workflows. */
        @WithDefault("default")
        String namespace();
    }

    /** The control plane. */
    interface Control {

        /** Address that reports are sent to, host:port; without it they stay in the outbox. */
        Optional<String> url();
    }

    /** An S3 server. */
    interface ObjectStore {

        /** URL of the S3 server; without it nothing can be suspended or restored here. */
        Optional<String> endpoint();

        /** Region that requests are signed for. */
        @WithDefault("us-east-1")
        String region();

        /** Bucket of the platform. */
        @WithDefault("space")
        String bucket();

        /** Name of the access key. */
        Optional<String> accessKey();

        /** File with the secret key that belongs to it. */
        Optional<Path> secretKeyFile();
    }

    /** This node. */
    interface Node {

        /** Name of the node: small letters, digits and dashes, at most 40. */
        String id();

        /** File with the secret that the node API and the control plane share. */
        Path tokenFile();

        /** Port of the node API (gRPC); 0 takes a free one. */
        int apiPort();

        /** Port of health and metrics (HTTP); 0 takes a free one. */
        int httpPort();

        /** Address that both ports are bound to. */
        @WithDefault("127.0.0.1")
        String bindAddress();

        /** Address that the control plane reaches the node API by; the bound one by default. */
        Optional<String> apiAddress();

        /** File system of sandboxes and snapshots; btrfs, except for the fake engine. */
        Path dataDir();

        /** The node's own small files: outbox and fences. */
        Path stateDir();

        /** Templates and engine bundles, shared by all platforms of the machine. */
        Path cacheDir();

        /**
         * A file for each template that has a name, with its digest; what was built last on the
         * machine by default.
         */
        Optional<Path> templateNamesDir();

        /** Engine of new sandboxes: qemu or fake. */
        @WithDefault("qemu")
        String engine();

        /** Who executes the guests' instructions: tcg (emulation) or kvm. */
        @WithDefault("tcg")
        String accelerator();

        /** Start snapshots that are made before the node is ready, each as template:size. */
        @WithDefault("default:small")
        List<String> prepare();

        /** Socket of node-manager. */
        Optional<Path> managerSocket();

        /** Socket of the network gateway; without it sandboxes reach nothing. */
        Optional<Path> gatewaySocket();

        /** Certificate (PEM) that sandboxes trust besides what their template does. */
        Optional<Path> guestRoot();

        /** Sandboxes that can run at once. */
        @WithDefault("64")
        int slots();

        /** User and group of the first slot. */
        @WithDefault("61000")
        int slotUidBase();

        /** Memory for sandboxes in MiB; 0 takes four fifths of the machine's. */
        @WithDefault("0")
        long memoryMib();

        /** Free space in MiB below which nothing new is made. */
        @WithDefault("1024")
        long diskReserveMib();

        /** Largest size of the outbox of reports in MiB. */
        @WithDefault("64")
        long outboxMib();

        /** Program that reads files on disks of snapshots; without it they cannot be browsed. */
        Optional<Path> reader();

        /** Snapshots that the node takes and removes by itself. */
        Rolling rolling();

        /** VMs that are made before a session needs them. */
        Pool pool();

        /** Fake engine only: seed of its faults. */
        @WithDefault("0")
        long fakeSeed();

        /** Fake engine only: calls in a hundred that are delayed, doubled or lost. */
        @WithDefault("0")
        int fakeFaultPercent();
    }

    /** VMs that are made before a session needs them. */
    interface Pool {

        /** Hot VMs that wait, of each entry of prepare; 0 keeps none, auto follows the demand. */
        @WithDefault("2")
        String hot();

        /** VMMs that wait for a snapshot to load, of each size in prepare; 0 keeps none. */
        @WithDefault("1")
        int prepared();

        /** Most memory in MiB for all that wait; 0 takes a quarter of the node's. */
        @WithDefault("0")
        long memoryMib();
    }

    /** Snapshots that the node takes and removes by itself. */
    interface Rolling {

        /** Seconds between disk snapshots of a session that changes; 0 takes none. */
        @WithDefault("20")
        long diskSeconds();

        /** Seconds between checkpoints of a session that changes; 0 takes none. */
        @WithDefault("60")
        long fullSeconds();

        /** Whether a disk snapshot waits until the guest's file system is at rest. */
        @WithDefault("false")
        boolean freeze();

        /** How many are kept: one of each span until an age, the finest first. */
        @WithDefault("20s:10m,1m:1h,10m:1d,1h:7d")
        String keep();

        /** Snapshots of one session; beyond that the oldest go. */
        @WithDefault("512")
        int snapshotsMax();

        /** What snapshots of one session may cost on the disk in MiB; 0: no bound. */
        @WithDefault("16384")
        long sessionMib();

        /** The same of all sessions of the node. */
        @WithDefault("0")
        long nodeMib();

        /** Free space in MiB below which none is taken and the oldest of the node go. */
        @WithDefault("2048")
        long reserveMib();
    }
}
