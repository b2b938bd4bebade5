package dev.space.cli.supervisor;

import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.Pause;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The commands' side of stopping and starting one node: a file says what is wanted, the supervisor
 * does it and tells in its state. What is wanted outlives both.
 */
public final class NodeControl {

    private static final Duration LOOK_EVERY = Duration.ofMillis(100);
    private static final Duration STOP_MAX = Duration.ofMinutes(3);
    private static final Duration START_MAX = Duration.ofMinutes(10);

    private final Platform platform;

    public NodeControl(Platform platform) {
        this.platform = platform;
    }

    /** Answers once its processes and VMs are gone; false when it was stopped before. */
    public boolean stop(NodePlace place) {
        boolean was = Files.exists(place.stopped());
        try {
            if (!was) {
                var _ = Files.createFile(place.stopped());
            }
        } catch (IOException e) {
            throw new PlatformException("cannot write " + place.stopped(), e);
        }
        await(place, ServiceState.Phase.STOPPED, STOP_MAX);
        return !was;
    }

    /** Answers once it is ready; false when it was not stopped. */
    public boolean start(NodePlace place) {
        boolean was = false;
        try {
            was = Files.deleteIfExists(place.stopped());
        } catch (IOException e) {
            throw new PlatformException("cannot remove " + place.stopped(), e);
        }
        await(place, ServiceState.Phase.READY, START_MAX);
        return was;
    }

    private void await(NodePlace place, ServiceState.Phase wanted, Duration max) {
        long deadline = System.nanoTime() + max.toNanos();
        String now = "";
        while (System.nanoTime() < deadline) {
            List<ServiceState> services = services(place);
            now =
                    services.stream()
                            .map(s -> s.name() + " " + s.phase() + " " + s.detail())
                            .collect(Collectors.joining(", "));
            if (!services.isEmpty() && services.stream().allMatch(s -> isDone(s, wanted))) {
                return;
            }
            Pause.of(LOOK_EVERY);
        }
        throw new PlatformException("after %d min: %s".formatted(max.toMinutes(), now));
    }

    private static boolean isDone(ServiceState service, ServiceState.Phase wanted) {
        return service.phase() == wanted
                && (wanted != ServiceState.Phase.STOPPED
                        || service.detail().equals(NodeRunner.STOPPED));
    }

    private List<ServiceState> services(NodePlace place) {
        Set<String> names = Set.copyOf(place.services());
        return PlatformState.live(platform)
                .orElseThrow(() ->
                        new PlatformException(
                                "the supervisor is gone: `./space status` starts one"))
                .services()
                .stream()
                .filter(s -> names.contains(s.name()))
                .toList();
    }
}
