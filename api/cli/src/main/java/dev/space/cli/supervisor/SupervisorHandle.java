package dev.space.cli.supervisor;

import dev.space.cli.platform.HostDisk;
import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.NodeVolume;
import dev.space.cli.platform.Pause;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.Proc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The commands' side of the supervisor: starts one in the background, follows what it tells of
 * itself, and ends it. Two commands at once both follow the one supervisor that got the lock.
 */
public final class SupervisorHandle {

    private static final Duration LOOK_EVERY = Duration.ofMillis(50);
    private static final Duration BIRTH_MAX = Duration.ofSeconds(20);
    private static final Duration UP_MAX = Duration.ofMinutes(30);
    private static final Duration DOWN_MAX = Duration.ofMinutes(30);
    private static final int LOG_TAIL_LINES = 15;

    private final Platform platform;
    private final Consumer<String> progress;

    public SupervisorHandle(Platform platform, Consumer<String> progress) {
        this.platform = platform;
        this.progress = progress;
    }

    public boolean isReady() {
        return PlatformState.live(platform)
                .filter(s -> s.phase() == PlatformState.Phase.READY)
                .isPresent();
    }

    /** True when processes of this platform live although their supervisor does not. */
    public boolean isOrphaned() {
        return PlatformState.live(platform).isEmpty()
                && Services.names(platform).stream()
                        .anyMatch(s -> ProcessRecord.live(platform, s).isPresent());
    }

    /** Brings the platform up, or waits for whoever does already. */
    public void up() {
        up(null);
    }

    /**
     * As {@link #up()}.
     *
     * @param nodes how many nodes; null for as many as configured, or as the last time
     */
    public void up(@Nullable Integer nodes) {
        Optional<PlatformState> before = PlatformState.live(platform);
        if (before.filter(s -> s.phase() == PlatformState.Phase.READY).isPresent()) {
            int now = NodeCount.stored(platform);
            if (nodes != null && nodes != now) {
                throw new PlatformException(
                        "the platform is up with %d node%s: `./space down`, then `up --nodes %d`"
                                .formatted(now, now == 1 ? "" : "s", nodes));
            }
            progress.accept("the platform is up already");
            return;
        }
        if (before.filter(s -> s.phase() == PlatformState.Phase.STOPPING).isPresent()) {
            progress.accept("the platform is being stopped; waiting for that");
            awaitGone(before.get(), DOWN_MAX);
            before = Optional.empty();
        }
        if (before.isPresent()) {
            progress.accept("another `space` command brings the platform up; waiting for it");
        }
        Process child = before.isPresent() ? null : spawn(List.of(), nodes);
        Thread onInterrupt =
                new Thread(() ->
                        progress.accept(
                                "interrupted; the platform goes on starting in the background:"
                                        + " `./space up` waits for it, `./space down` stops it"));
        Runtime.getRuntime().addShutdownHook(onInterrupt);
        try {
            follow(child);
        } finally {
            forget(onInterrupt);
        }
    }

    private static void forget(Thread hook) {
        try {
            var _ = Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // Interrupted at this very moment: it tells so.
        }
    }

    private void follow(@Nullable Process child) {
        Follower follower = new Follower();
        long deadline = System.nanoTime() + UP_MAX.toNanos();
        long birth = System.nanoTime() + BIRTH_MAX.toNanos();
        while (System.nanoTime() < deadline) {
            Optional<PlatformState> state = PlatformState.live(platform);
            state.ifPresent(follower::show);
            if (state.isPresent() && state.get().phase() == PlatformState.Phase.READY) {
                return;
            }
            if (state.isPresent() && state.get().phase() == PlatformState.Phase.FAILED) {
                throw new PlatformException(
                        state.get().detail()
                                + "\n(`./space logs`, `./space doctor`; `./space down` stops what"
                                + " was started)");
            }
            if (child != null && !child.isAlive() && child.exitValue() == Supervisor.ANOTHER) {
                progress.accept("another `space` command brings the platform up; waiting for it");
                child = null;
                birth = System.nanoTime() + BIRTH_MAX.toNanos();
            }
            boolean childGone = child == null || !child.isAlive();
            if (state.isEmpty() && childGone && (child != null || System.nanoTime() > birth)) {
                throw new PlatformException(whyDead());
            }
            Pause.of(LOOK_EVERY);
        }
        throw new PlatformException(
                "the platform is not ready after " + UP_MAX.toMinutes() + " min");
    }

    private String whyDead() {
        return PlatformState.last(platform)
                .filter(s -> s.phase() == PlatformState.Phase.FAILED)
                .map(PlatformState::detail)
                .orElseGet(() ->
                        "the supervisor ended; `./space up` again goes on where it was, and"
                                + " `./space logs supervisor` shows all:\n"
                                + logTail());
    }

    /**
     * Pauses sessions and takes everything down; answers false when nothing was up.
     *
     * @param force stop what cannot be paused as well
     */
    public boolean down(boolean force) {
        Optional<PlatformState> live = PlatformState.live(platform);
        if (force && live.isPresent()) {
            // Only a new one knows that it may: its services go on meanwhile.
            Proc supervisor = new Proc(live.get().pid(), live.get().startTicks());
            supervisor.signal("KILL");
            awaitEnd(supervisor);
            live = Optional.empty();
        }
        if (live.isPresent()) {
            new Proc(live.get().pid(), live.get().startTicks()).signal("TERM");
        } else if (isOrphaned() || Files.exists(platform.sockets()) || isMounted()) {
            progress.accept("the supervisor is gone; adopting what it left, to stop it in order");
            var _ = spawn(force ? List.of("--then-down", "--force") : List.of("--then-down"), null);
            live = awaitBirth();
        } else {
            return false;
        }
        PlatformState state = live.orElseThrow(() -> new PlatformException(whyDead()));
        awaitGone(state, DOWN_MAX);
        String left = PlatformState.last(platform).map(PlatformState::detail).orElse("");
        if (isOrphaned()) {
            // What it told last may not have been written: a full disk is one of the reasons.
            throw new PlatformException(
                    "the platform still runs: "
                            + (left.isEmpty() ? "the supervisor ended before it was stopped" : left)
                            + HostDisk.complaint(platform)
                                    .map(full -> "\n(" + full + ")")
                                    .orElse(""));
        }
        if (!left.isEmpty()) {
            throw new PlatformException(left);
        }
        return true;
    }

    private boolean isMounted() {
        return NodePlace.all(platform).stream()
                .anyMatch(place ->
                        Files.exists(place.image()) && new NodeVolume(place).isMountPoint());
    }

    private Optional<PlatformState> awaitBirth() {
        long deadline = System.nanoTime() + BIRTH_MAX.toNanos();
        Optional<PlatformState> live = PlatformState.live(platform);
        while (live.isEmpty() && System.nanoTime() < deadline) {
            Pause.of(LOOK_EVERY);
            live = PlatformState.live(platform);
        }
        return live;
    }

    private void awaitGone(PlatformState state, Duration max) {
        Follower follower = new Follower();
        follower.shown = state.progress().size();
        Proc proc = new Proc(state.pid(), state.startTicks());
        long deadline = System.nanoTime() + max.toNanos();
        while (proc.alive()) {
            PlatformState.last(platform).ifPresent(follower::show);
            if (System.nanoTime() > deadline) {
                throw new PlatformException("not stopped after " + max.toMinutes() + " min");
            }
            Pause.of(LOOK_EVERY);
        }
        PlatformState.last(platform).ifPresent(follower::show);
    }

    private static void awaitEnd(Proc proc) {
        long deadline = System.nanoTime() + BIRTH_MAX.toNanos();
        while (proc.alive() && System.nanoTime() < deadline) {
            Pause.of(LOOK_EVERY);
        }
    }

    private Process spawn(List<String> options, @Nullable Integer nodes) {
        Path release = platform.release();
        List<String> argv =
                new ArrayList<>(
                        List.of(
                                "setsid",
                                platform.jdk().resolve("bin/java").toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-Xmx96m",
                                "-cp",
                                release.resolve("cli") + "/*:" + release.resolve("cli/lib") + "/*",
                                "dev.space.cli.Main",
                                "supervise",
                                "--data",
                                platform.data().toString(),
                                "--config",
                                platform.config().toString()));
        argv.addAll(options);
        if (nodes != null) {
            argv.addAll(List.of("--nodes", nodes.toString()));
        }
        try {
            Files.createDirectories(platform.log());
            return new ProcessBuilder(argv)
                    .directory(Path.of("/").toFile())
                    .redirectErrorStream(true)
                    .redirectInput(Path.of("/dev/null").toFile())
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
                    .start();
        } catch (IOException e) {
            throw new PlatformException("cannot start the supervisor: " + e.getMessage(), e);
        }
    }

    private Path log() {
        return platform.log().resolve("supervisor.log");
    }

    private String logTail() {
        try {
            List<String> lines =
                    Files.readAllLines(log()).stream()
                            .filter(line -> !line.startsWith("WARNING:")) // the JDK's
                            .toList();
            return String.join(
                    "\n", lines.subList(Math.max(0, lines.size() - LOG_TAIL_LINES), lines.size()));
        } catch (IOException e) {
            return "(no log at " + log() + ")";
        }
    }

    /** Prints each new line of progress once, and what is being waited for when it changes. */
    private final class Follower {
        private int shown;
        private String last = "";

        void show(PlatformState state) {
            for (; shown < state.progress().size(); shown++) {
                progress.accept(state.progress().get(shown));
            }
            String now = waitingFor(state);
            if (!now.equals(last) && !now.isEmpty()) {
                progress.accept(now);
            }
            last = now;
        }

        private String waitingFor(PlatformState state) {
            if (state.phase() == PlatformState.Phase.STOPPING) {
                return state.detail();
            }
            return state.services().stream()
                    .filter(s ->
                            s.phase() == ServiceState.Phase.BACKOFF
                                    || s.detail().startsWith(Readiness.WAITING))
                    .map(s -> s.name() + ": " + s.detail())
                    .findFirst()
                    .orElse("");
        }
    }
}
