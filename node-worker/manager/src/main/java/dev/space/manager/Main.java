package dev.space.manager;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code --config FILE} serves until it is killed, which harms no VMM; {@code --sweep INSTANCE
 * [--kill]} clears what a killed platform left and ends.
 */
public final class Main {

    private static final Path CGROUPS = Path.of("/sys/fs/cgroup");
    private static final Path KVM = Path.of("/dev/kvm");
    private static final Path NAMESPACES = Path.of("/run/netns");

    private Main() {}

    public static void main(String[] args) {
        int code = run(Arrays.asList(args), System.err);
        if (code != 0) {
            System.exit(code);
        }
    }

    static int run(List<String> args, PrintStream out) {
        try {
            if (args.size() == 2 && args.getFirst().equals("--config")) {
                serve(ManagerConfig.load(Path.of(args.get(1))), out);
                return 0;
            }
            boolean kill = args.size() == 3 && args.get(2).equals("--kill");
            if (args.size() >= 2 && args.getFirst().equals("--sweep") && args.size() <= 3) {
                if (!args.get(1).matches("[a-z0-9]{1,16}") || (args.size() == 3 && !kill)) {
                    out.println("node-manager: an instance is [a-z0-9]{1,16}, then --kill");
                    return 2;
                }
                Cgroups cgroups = Cgroups.detect(CGROUPS, args.get(1));
                new Sweep(cgroups, args.get(1), NAMESPACES).run(kill).forEach(out::println);
                return 0;
            }
            out.println("usage: --config FILE | --sweep INSTANCE [--kill]");
            return 2;
        } catch (IOException | IllegalArgumentException e) {
            out.println("node-manager: " + e.getMessage());
            return 1;
        }
    }

    private static void serve(ManagerConfig config, PrintStream out) throws IOException {
        Files.createDirectories(config.exitsDir());
        Files.setPosixFilePermissions(
                config.exitsDir(), PosixFilePermissions.fromString("rwx------"));
        if (!Files.isExecutable(config.jail())) {
            throw new IOException(config.jail() + " is not there; build node-worker/jail first");
        }
        if (config.accelerator().equals("kvm") && !Files.isWritable(KVM)) {
            throw new IOException(
                    "space.node.accelerator is kvm, but "
                            + KVM
                            + " cannot be opened; load kvm_intel or kvm_amd, or set it to tcg");
        }
        Worker worker = Worker.find(config.workerUser(), config.exitsDir());
        Cgroups cgroups = Cgroups.detect(CGROUPS, config.instance());
        ExitRecords records = new ExitRecords(config.exitsDir());
        JailLauncher launcher = new JailLauncher(config, worker, records);
        Slots slots = new Slots(config, cgroups, records, launcher);
        // Before the worker's socket: each bind closes their directory for a moment.
        try (GatewayServer _ = gateway(config, slots);
                Server server = Server.bind(config.socket(), worker, slots)) {
            out.println(
                    "node-manager: instance "
                            + config.instance()
                            + " serves uid "
                            + worker.uid()
                            + " at "
                            + config.socket());
            server.serve();
        }
    }

    private static @Nullable GatewayServer gateway(ManagerConfig config, Slots slots)
            throws IOException {
        if (config.gateway().isEmpty()) {
            return null;
        }
        ManagerConfig.Gateway gateway = config.gateway().get();
        Worker user = Worker.find(gateway.user(), config.exitsDir());
        return GatewayServer.start(gateway.socket(), user, slots);
    }
}
