package dev.space.nativeabi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.space.nativeabi.raw.Layouts;
import dev.space.nativeabi.raw.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A process held by descriptor: it stays the same process even when its number is used again. Works
 * for processes that are not our children. Check after opening that it is the process you mean.
 */
public final class PidFd implements AutoCloseable {

    public static final int SIGKILL = 9;
    public static final int SIGTERM = 15;

    /** One poll sleeps this long at most, so that close() from another thread is noticed. */
    private static final int POLL_MILLIS_MAX = 1000;

    private final int pid;
    private final int descriptor;
    private final AtomicBoolean closed = new AtomicBoolean();

    private PidFd(int pid, int descriptor) {
        this.pid = pid;
        this.descriptor = descriptor;
    }

    /**
     * Opens the process, or empty when there is none of that number.
     *
     * <p>JUSTIFICATION: ProcessHandle polls and can mistake a reused number. SAFETY: numbers only.
     */
    public static Optional<PidFd> open(int pid) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Libc.state(arena);
            long fd = (long) Libc.PIDFD_OPEN.invokeExact(state, Libc.SYS_PIDFD_OPEN, pid, 0);
            if (fd >= 0) {
                return Optional.of(new PidFd(pid, (int) fd));
            }
            if (Libc.errno(state) == NativeException.ESRCH) {
                return Optional.empty();
            }
            throw new NativeException("pidfd_open", "pid " + pid, Libc.errno(state));
        } catch (Throwable e) {
            throw Calls.rethrow(e);
        }
    }

    public int pid() {
        return pid;
    }

    /**
     * Sends a signal; false when the process is gone.
     *
     * <p>JUSTIFICATION: kill by number can hit a stranger. SAFETY: numbers and a null siginfo.
     */
    public boolean signal(int signal) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Libc.state(arena);
            long result =
                    (long)
                            Libc.PIDFD_SEND_SIGNAL.invokeExact(
                                    state,
                                    Libc.SYS_PIDFD_SEND_SIGNAL,
                                    live(),
                                    signal,
                                    MemorySegment.NULL,
                                    0);
            if (result == 0) {
                return true;
            }
            if (Libc.errno(state) == NativeException.ESRCH) {
                return false;
            }
            throw new NativeException("pidfd_send_signal", "pid " + pid, Libc.errno(state));
        } catch (Throwable e) {
            throw Calls.rethrow(e);
        }
    }

    /** Waits until the process has ended (it may be a zombie then); false when time ran out. */
    public boolean awaitExit(Duration timeout) throws IOException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            long left = Math.max(0, (deadline - System.nanoTime()) / 1_000_000);
            if (poll((int) Math.min(left, POLL_MILLIS_MAX))) {
                return true;
            }
            if (System.nanoTime() >= deadline) {
                return false;
            }
        }
    }

    /**
     * JUSTIFICATION: only poll tells the end of a process that is no child. SAFETY: one pollfd in
     * the arena, count 1; EINTR counts as "not yet".
     */
    private boolean poll(int millis) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Libc.state(arena);
            MemorySegment set = arena.allocate(Layouts.POLLFD);
            set.set(JAVA_INT, Layouts.offset(Layouts.POLLFD, "fd"), live());
            set.set(JAVA_SHORT, Layouts.offset(Layouts.POLLFD, "events"), Libc.POLLIN);
            int ready = (int) Libc.POLL.invokeExact(state, set, 1L, millis);
            if (ready < 0 && Libc.errno(state) != NativeException.EINTR) {
                throw new NativeException("poll", "pid " + pid, Libc.errno(state));
            }
            return ready > 0;
        } catch (Throwable e) {
            throw Calls.rethrow(e);
        }
    }

    private int live() {
        if (closed.get()) {
            throw new IllegalStateException("the descriptor of pid " + pid + " is closed");
        }
        return descriptor;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            Calls.close(descriptor);
        }
    }
}
