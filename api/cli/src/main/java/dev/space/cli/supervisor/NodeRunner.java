package dev.space.cli.supervisor;

import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.NodeVolume;
import dev.space.cli.platform.Owned;
import dev.space.cli.platform.PlatformException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Starts each node that is wanted and takes away each that an operator stopped, as if its machine
 * were off: processes, VMs, namespaces, and the mount of its volume. Its data stay.
 */
final class NodeRunner {

    /** What the state says of a stopped node's processes. */
    static final String STOPPED = "node stopped";

    /** How soon what failed is tried again. */
    private static final Duration AGAIN_AFTER = Duration.ofSeconds(3);

    private final Layout layout;
    private final Services services;
    private final int volumeGib;
    private final StateFile state;
    private final Map<String, Watch> watches;
    private final Launcher launcher;
    private final Set<NodePlace> running = new HashSet<>();
    private long notBefore = System.nanoTime();
    private boolean closed;

    NodeRunner(
            Layout layout,
            Services services,
            int volumeGib,
            StateFile state,
            Map<String, Watch> watches,
            Launcher launcher) {
        this.layout = layout;
        this.services = services;
        this.volumeGib = volumeGib;
        this.state = state;
        this.watches = watches;
        this.launcher = launcher;
    }

    /** Makes ready what is wanted, in order; answers nothing started yet. */
    synchronized void prepare() {
        for (NodePlace place : layout.nodes()) {
            if (isWanted(place)) {
                var _ = prepare(place);
            } else {
                say(place, STOPPED);
            }
        }
    }

    private List<Watch> prepare(NodePlace place) {
        String volume = new NodeVolume(place).mount(volumeGib);
        var _ = Owned.directory(place.data(), Layout.worker(place), "rwx--x--x");
        state.progress(
                layout.nodes().size() == 1
                        ? "node volume: " + volume
                        : "volume of node %d: %s".formatted(place.number(), volume));
        List<Watch> made = new ArrayList<>();
        for (Service service : services.of(place)) {
            Watch watch = new Watch(layout.platform(), service, launcher, state, watches);
            watch.announce();
            watches.put(service.name(), watch);
            made.add(watch);
        }
        running.add(place);
        return made;
    }

    /** Does what has been asked for since the last look. */
    synchronized void look() {
        if (System.nanoTime() - notBefore < 0) {
            return;
        }
        for (NodePlace place : layout.nodes()) {
            if (closed || isWanted(place) == running.contains(place)) {
                continue;
            }
            try {
                if (isWanted(place)) {
                    prepare(place).forEach(Watch::start);
                } else {
                    stop(place);
                }
            } catch (PlatformException e) {
                // Told to whoever waits; tried again at the next look.
                notBefore = System.nanoTime() + AGAIN_AFTER.toNanos();
                say(place, String.valueOf(e.getMessage()));
            }
        }
    }

    private void stop(NodePlace place) {
        state.progress("stopping node " + place.number());
        List<String> reverse = place.services().reversed();
        for (String name : reverse) {
            Watch watch = watches.get(name);
            if (watch != null) {
                watch.end();
                watches.remove(name);
            }
        }
        clear(place);
        running.remove(place);
        say(place, STOPPED);
        state.progress("node " + place.number() + " is stopped");
    }

    /** Ends the node's VMs and takes away what they have on the machine, and its mount. */
    static void clear(NodePlace place) {
        new Leftovers(place).remove();
        new NodeVolume(place).unmount();
    }

    /** No more changes from now on. */
    synchronized void close() {
        closed = true;
    }

    private static boolean isWanted(NodePlace place) {
        return !Files.exists(place.stopped());
    }

    private void say(NodePlace place, String detail) {
        // By name alone: what they would be started with may be what is wrong.
        for (String service : place.services()) {
            state.service(
                    new ServiceState(
                            service,
                            ServiceState.Phase.STOPPED,
                            0,
                            0,
                            Instant.now().toString(),
                            detail));
        }
    }
}
