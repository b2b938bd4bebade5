package dev.space.cli.command;

import dev.space.cli.config.ConfigKey;
import dev.space.cli.config.SpaceConfig;
import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.supervisor.NodeControl;
import dev.space.cli.supervisor.NodeCount;
import dev.space.cli.supervisor.SupervisorHandle;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Stops and starts one node of a machine that runs several. */
@Command(
        name = "node",
        mixinStandardHelpOptions = true,
        description = "Stops or starts one of this machine's nodes; `space status` names them.",
        subcommands = {NodeCommand.Stop.class, NodeCommand.Start.class})
public final class NodeCommand {

    private NodeCommand() {}

    /** What both have: a node by its name. */
    abstract static class OneNode implements Callable<Integer> {

        @Mixin PlatformOptions options;

        @Parameters(paramLabel = "NAME", description = "The node.")
        String name = "";

        @Override
        public final Integer call() {
            PlatformOptions.demandRoot("node");
            Platform platform = options.platform();
            if (!new SupervisorHandle(platform, new Progress()).isReady()) {
                throw new PlatformException("the platform is not ready: `./space status`");
            }
            run(platform, place(platform));
            return 0;
        }

        abstract void run(Platform platform, NodePlace place);

        private NodePlace place(Platform platform) {
            String first = SpaceConfig.load(platform.config()).text(ConfigKey.NODE_ID);
            List<NodePlace> places = NodeCount.places(platform);
            return places.stream()
                    .filter(place -> place.id(first).equals(name))
                    .findFirst()
                    .orElseThrow(() ->
                            new PlatformException(
                                    "no node %s here; there are: %s"
                                            .formatted(
                                                    name,
                                                    places.stream()
                                                            .map(place -> place.id(first))
                                                            .collect(Collectors.joining(", ")))));
        }
    }

    /** What happens to a node's sessions first. */
    enum Drain {
        SUSPEND,
        PAUSE,
        NONE
    }

    @Command(
            name = "stop",
            mixinStandardHelpOptions = true,
            description = {
                "Stops a node as if its machine were switched off: processes, VMs, its volume's",
                "mount. It stays so until `node start` or `down`. First its sessions are drained."
            })
    static final class Stop extends OneNode {

        @Option(
                names = "--drain",
                paramLabel = "HOW",
                defaultValue = "suspend",
                description = {
                    "suspend: all go to the object store and can be restored on another node;",
                    "pause: those that run wait for this node; none: they end as in a crash."
                })
        String drain = "suspend";

        @Override
        void run(Platform platform, NodePlace place) {
            Progress progress = new Progress();
            Drain how = how();
            NodeDrain sessions = new NodeDrain(platform, name, progress);
            if (how != Drain.NONE) {
                sessions.drain(how == Drain.SUSPEND);
            }
            boolean done = new NodeControl(platform).stop(place);
            sessions.nodeIs("off");
            progress.accept("node " + name + (done ? " is stopped" : " was stopped already"));
        }

        private Drain how() {
            try {
                return Drain.valueOf(drain.toUpperCase(Locale.ROOT));
            } catch (IllegalArgumentException e) {
                throw new PlatformException("--drain takes suspend, pause or none", e);
            }
        }
    }

    @Command(
            name = "start",
            mixinStandardHelpOptions = true,
            description = "Starts a node that was stopped, and waits until it is ready.")
    static final class Start extends OneNode {

        @Override
        void run(Platform platform, NodePlace place) {
            boolean done = new NodeControl(platform).start(place);
            new NodeDrain(platform, name, new Progress()).nodeIs("uncordon");
            new Progress().accept("node " + name + (done ? " is ready" : " runs already"));
        }
    }
}
