package dev.space.node.templates;

import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.node.engine.spi.Engine;
import dev.space.node.engine.spi.GuestIdentity;
import dev.space.node.engine.spi.GuestToken;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes start snapshots: boots the template in a real slot and jail, runs a ping and a command so
 * that what every sandbox does first is warm, and takes the snapshot as any other is taken.
 */
public final class StartSnapshotMaker implements CacheTemplates.Maker {

    private static final Logger LOG = LoggerFactory.getLogger(StartSnapshotMaker.class);

    /** A template may start what every sandbox is to have from the beginning; else nothing. */
    private static final String START_HOOK =
            "[ -x /usr/lib/space/start ] || exit 100; exec /usr/lib/space/start";

    private static final int NO_HOOK = 100;

    private final Engine engine;
    private final Volume volume;
    private final LiveFiles liveFiles;
    private final MemoryBudget memory;
    private final GuestRoot root;

    /**
     * With what it needs for a VM.
     *
     * @param root that every sandbox trusts
     */
    public StartSnapshotMaker(
            Engine engine,
            Volume volume,
            LiveFiles liveFiles,
            MemoryBudget memory,
            GuestRoot root) {
        this.root = root;
        this.engine = engine;
        this.volume = volume;
        this.liveFiles = liveFiles;
        this.memory = memory;
    }

    @Override
    public boolean loads(StartMeta meta) {
        return meta.engine().equals(engine.info().name())
                && engine.hasBundle(meta.bundle())
                && root.mark().equals(meta.root());
    }

    @Override
    public void make(TemplateInfo template, Size size, Path root, Path target) {
        LOG.info("making the start snapshot {} of {}", size.wireName(), template.name());
        final long begin = System.nanoTime();
        // The VM has no session; the id only names it in records and logs.
        SessionId nobody = WarmUp.nobody();
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
            this.root.install(vm);
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
                                    token,
                                    this.root.mark())));
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
        WarmUp.run(vm);
        int code = WarmUp.command(vm, "start", START_HOOK);
        if (code == NO_HOOK) {
            WarmUp.awaitForgotten(vm, "start");
        } else {
            // It stays listed, ended, while what it left behind runs.
            WarmUp.demandSuccess("its start hook", code);
        }
    }
}
