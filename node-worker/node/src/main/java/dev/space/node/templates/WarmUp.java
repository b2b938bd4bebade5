package dev.space.node.templates;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Ids;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.node.Pause;
import dev.space.node.engine.spi.GuestProcess;
import dev.space.node.engine.spi.OutputSink;
import dev.space.node.engine.spi.ProcessStart;
import dev.space.node.engine.spi.Vm;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** What a VM that runs for nobody yet does once, so that it is quick for whoever gets it. */
public final class WarmUp {

    static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration LOOK_EVERY = Duration.ofMillis(20);
    private static final SecureRandom RANDOM = new SecureRandom();

    private WarmUp() {}

    /** The id of no session, for the records and logs of such a VM. */
    public static SessionId nobody() {
        byte[] random = new byte[Ids.RANDOM_BYTES];
        RANDOM.nextBytes(random);
        return new SessionId(Ids.text(SessionId.PREFIX, random));
    }

    /**
     * What the first command of a session does, so that the guest's kernel has done it before:
     * programs that are files of their own, a pipe, and a read that reaches the disk (the shell's
     * own file is in memory already). All of it stays in the VMM's translated code, or in the
     * processor's caches. A template that lacks one of the programs is only slower.
     */
    private static final String LINE =
            "/bin/true && /bin/echo warm | cat >/dev/null"
                    + " && dd if=/bin/cat of=/dev/null bs=64k count=1 iflag=direct 2>/dev/null";

    /** A ping and commands; nothing of them can be seen afterwards. */
    public static void run(Vm vm) {
        var _ = vm.guest().pingUnixNanos();
        demandSuccess("a first command", command(vm, "warm-up", "true"));
        var _ = command(vm, "warm-up-more", LINE);
        awaitForgotten(vm, "warm-up");
        awaitForgotten(vm, "warm-up-more");
    }

    static void demandSuccess(String what, int code) {
        if (code != 0) {
            throw unusable(what + " ended with " + code, null);
        }
    }

    static int command(Vm vm, String id, String line) {
        return command(
                vm,
                new ProcessStart(
                        id,
                        List.of(),
                        ByteString.copyFromUtf8(line),
                        Map.of(),
                        ByteString.EMPTY,
                        "",
                        TIMEOUT.toMillis(),
                        false));
    }

    /** Runs it to its end and forgets it. */
    static int command(Vm vm, ProcessStart start) {
        String id = start.id();
        CompletableFuture<GuestProcess> over = new CompletableFuture<>();
        var _ = vm.guest().start(start, new ExitOnly(over));
        try {
            int code = over.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).exitCode();
            vm.guest().forget(id);
            return code;
        } catch (ExecutionException | TimeoutException e) {
            throw unusable("`" + id + "` did not end", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unusable("interrupted", e);
        }
    }

    /** No sandbox that starts from here may list this as its own process. */
    static void awaitForgotten(Vm vm, String id) {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        try {
            while (vm.guest().processes().stream().anyMatch(p -> p.id().equals(id))) {
                if (System.nanoTime() > end) {
                    throw unusable("its first command is not forgotten", null);
                }
                Pause.of(LOOK_EVERY);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unusable("interrupted", e);
        }
    }

    private static SpaceException unusable(String detail, @Nullable Throwable cause) {
        return new SpaceException(
                ErrorCode.ENGINE_FAILED, "the template boots but " + detail, cause);
    }

    private record ExitOnly(CompletableFuture<GuestProcess> over) implements OutputSink {

        @Override
        public void output(boolean stderr, long offset, ByteString data) {}

        @Override
        public void exited(GuestProcess last) {
            over.complete(last);
        }

        @Override
        public void detached(Throwable why) {
            over.completeExceptionally(why);
        }
    }
}
