package dev.space.node.templates;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Ids;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.node.Pause;
import dev.space.node.engine.spi.Engine;
import dev.space.node.engine.spi.GuestIdentity;
import dev.space.node.engine.spi.GuestProcess;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.OutputSink;
import dev.space.node.engine.spi.ProcessStart;
import dev.space.node.engine.spi.Slot;
import dev.space.node.engine.spi.StartIds;
import dev.space.node.engine.spi.StartPermit;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.engine.spi.VmStart;
import dev.space.node.sandbox.LiveFiles;
import dev.space.node.sandbox.MemoryBudget;
import dev.space.node.volumes.DurableFiles;
import dev.space.node.volumes.Json;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes start snapshots: boots the template in a real slot and jail, runs a ping and a command so
 * that what every sandbox does first is warm, and takes the snapshot as any other is taken.
 */
public final class StartSnapshotMaker {

    private static final Logger LOG = LoggerFactory.getLogger(StartSnapshotMaker.class);

    /** A template may start what every sandbox is to have from the beginning; else nothing. */
    private static final String START_HOOK =
            "[ -x /usr/lib/space/start ] || exit 100; exec /usr/lib/space/start";

    private static final int NO_HOOK = 100;

    private static final Duration WARM_UP_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration LOOK_EVERY = Duration.ofMillis(20);
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Engine engine;
    private final Volume volume;
    private final LiveFiles liveFiles;
    private final MemoryBudget memory;

    public StartSnapshotMaker(
            Engine engine, Volume volume, LiveFiles liveFiles, MemoryBudget memory) {
        this.engine = engine;
        this.volume = volume;
        this.liveFiles = liveFiles;
        this.memory = memory;
    }

    /** False where another engine, bundle, accelerator or CPU made it. */
    boolean loads(StartMeta meta) {
        return meta.engine().equals(engine.info().name()) && engine.hasBundle(meta.bundle());
    }

    /** Publishes the start snapshot of one size in the target directory. */
    void make(TemplateInfo template, Size size, Path root, Path target) {
        LOG.info("making the start snapshot {} of {}", size.wireName(), template.name());
        final long begin = System.nanoTime();
        // The VM has no session; the id only names it in records and logs.
        byte[] random = new byte[Ids.RANDOM_BYTES];
        RANDOM.nextBytes(random);
        SessionId nobody = new SessionId(Ids.text(SessionId.PREFIX, random));
        Path workplace = volume.newStaging("template");
        memory.reserve(nobody, size);
        try {
            Slot slot = engine.acquireSlot();
            try {
                VmRecord record =
                        new VmRecord(
                                nobody,
                                slot,
                                StartIds.next(),
                                engine.bundle(template.bundle()),
                                size);
                bootAndPublish(template, record, root, workplace, target);
            } finally {
                engine.releaseSlot(slot);
            }
        } finally {
            memory.free(nobody);
            volume.discard(workplace);
        }
        LOG.info(
                "start snapshot {} of {} made in {} ms",
                size.wireName(),
                template.name(),
                (System.nanoTime() - begin) / 1_000_000);
    }

    private void bootAndPublish(
            TemplateInfo template, VmRecord record, Path root, Path workplace, Path target) {
        GuestToken token = GuestToken.fresh();
        VmFiles files =
                liveFiles.make(
                        workplace.resolve("live"),
                        new LiveFiles.Source(root, root.resolve("disk"), false),
                        record.slot(),
                        record.size(),
                        token);
        GuestIdentity identity = new GuestIdentity("sandbox", 1, template.user(), false);
        Vm vm =
                engine.start(
                        new VmStart(
                                record,
                                files,
                                false,
                                GuestToken.fresh(),
                                token,
                                identity,
                                StartPermit.ALWAYS));
        Path staged = volume.newStaging("start");
        try {
            warmUp(vm);
            vm.writeBack();
            if (!vm.quiesce()) {
                LOG.warn("the workload of {} was not frozen in time", template.name());
            }
            vm.stop();
            vm.saveDevice();
            volume.cloner().cloneFile(files.disk(), staged.resolve("disk"));
            volume.cloner().cloneFile(files.device(), staged.resolve("device"));
            CompactCopy.copy(files.ram(), staged.resolve("ram"));
            DurableFiles.writeNew(
                    staged.resolve(StartMeta.FILE),
                    Json.MAPPER.writeValueAsBytes(
                            new StartMeta(
                                    template.digest(),
                                    record.size(),
                                    engine.info().name(),
                                    record.bundle(),
                                    token)));
            volume.discard(target);
            volume.publish(staged, target);
        } catch (IOException e) {
            throw volume.failed("store a start snapshot of " + template.name(), e);
        } finally {
            volume.discard(staged);
            vm.end();
        }
    }

    private static void warmUp(Vm vm) {
        var _ = vm.guest().pingUnixNanos();
        demandSuccess("a first command", run(vm, "warm-up", "true"));
        awaitForgotten(vm);
        int code = run(vm, "start", START_HOOK);
        if (code == NO_HOOK) {
            awaitForgotten(vm);
        } else {
            // It stays listed, ended, while what it left behind runs.
            demandSuccess("its start hook", code);
        }
    }

    private static void demandSuccess(String what, int code) {
        if (code != 0) {
            throw unusable(what + " ended with " + code, null);
        }
    }

    private static int run(Vm vm, String id, String command) {
        CompletableFuture<GuestProcess> over = new CompletableFuture<>();
        ProcessStart start =
                new ProcessStart(
                        id,
                        List.of(),
                        ByteString.copyFromUtf8(command),
                        Map.of(),
                        ByteString.EMPTY,
                        "",
                        WARM_UP_TIMEOUT.toMillis(),
                        false);
        var _ = vm.guest().start(start, new ExitOnly(over));
        try {
            int code = over.get(WARM_UP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).exitCode();
            vm.guest().forget(id);
            return code;
        } catch (ExecutionException | TimeoutException e) {
            throw unusable("`" + id + "` did not end", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unusable("interrupted", e);
        }
    }

    /** No sandbox that starts from here may list the warm-up as its own process. */
    private static void awaitForgotten(Vm vm) {
        long end = System.nanoTime() + WARM_UP_TIMEOUT.toNanos();
        try {
            while (!vm.guest().processes().isEmpty()) {
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
