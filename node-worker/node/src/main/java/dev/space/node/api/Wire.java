package dev.space.node.api;

import com.google.protobuf.ByteString;
import dev.space.contract.node.StepRef;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.Limits;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SnapshotReason;
import dev.space.model.SpaceException;
import dev.space.node.dataplane.SandboxProcess;
import dev.space.node.egress.NetworkPolicy;
import dev.space.node.engine.spi.GuestFile;
import dev.space.node.engine.spi.GuestPath;
import dev.space.node.engine.spi.GuestProcess;
import dev.space.node.engine.spi.ProcessStart;
import dev.space.node.sandbox.SandboxManager;
import dev.space.node.templates.TemplateSource;
import dev.space.node.volumes.SnapshotManifest;
import dev.space.nodeapi.v1.FileInfo;
import dev.space.nodeapi.v1.FileRequest;
import dev.space.nodeapi.v1.ProcessInfo;
import dev.space.nodeapi.v1.ProcessSpec;
import dev.space.nodeapi.v1.SandboxStarted;
import dev.space.nodeapi.v1.SandboxState;
import dev.space.nodeapi.v1.SnapshotTaken;
import dev.space.nodeapi.v1.StorageUse;
import dev.space.nodeapi.v1.TemplateState;

/** Between the messages of the node API and the node's own types. */
public final class Wire {

    private Wire() {}

    static StepRef ref(dev.space.nodeapi.v1.StepRef ref) {
        return new StepRef(
                new SessionId(ref.getSessionId()),
                new OperationId(ref.getOperationId()),
                new Fence(ref.getEpoch(), ref.getNumber(), ref.getAttempt()));
    }

    static Size size(String name) {
        return Size.fromWireName(name)
                .orElseThrow(() ->
                        new SpaceException(ErrorCode.UNKNOWN_SIZE, "there is no size " + name));
    }

    static SandboxStarted started(dev.space.contract.node.SandboxStarted started) {
        SandboxStarted.Builder answer =
                SandboxStarted.newBuilder()
                        .setEngine(started.engine())
                        .setRung(started.rung())
                        .setMemoryLost(started.memoryLost())
                        .putAllPhaseMicros(started.phaseMicros())
                        .setAttempt(started.attempt());
        if (started.source() != null) {
            answer.setSource(taken(started.source()));
        }
        return answer.build();
    }

    static SnapshotTaken taken(dev.space.contract.node.SnapshotTaken taken) {
        return snapshot(taken).build();
    }

    private static SnapshotTaken listed(SnapshotManifest manifest) {
        SnapshotReason reason = manifest.reason();
        return snapshot(manifest.taken()).setReason(reason == null ? "" : reason.name()).build();
    }

    public static SnapshotTaken.Builder snapshot(dev.space.contract.node.SnapshotTaken taken) {
        return SnapshotTaken.newBuilder()
                .setSnapshotId(taken.snapshot().value())
                .setKind(taken.kind().name())
                .setEpoch(taken.epoch())
                .setStop(taken.stop())
                .setBytes(taken.bytes())
                .setTakenAtMillis(taken.takenAtMillis())
                .setQuiesced(taken.quiesced())
                .setPauseMicros(taken.pauseMicros());
    }

    static SandboxState state(SandboxManager.Status status) {
        return SandboxState.newBuilder()
                .setSessionId(status.session().value())
                .setEpoch(status.highest().epoch())
                .setNumber(status.highest().number())
                .setAttempt(status.highest().attempt())
                .setRunningEpoch(status.runningEpoch())
                .setState(status.state())
                .addAllSnapshots(status.snapshots().stream().map(Wire::listed).toList())
                .setMemoryBytes(status.memoryBytes())
                .setDiskBytes(status.diskBytes())
                .build();
    }

    static StorageUse storage(dev.space.node.volumes.StorageUse use) {
        return StorageUse.newBuilder()
                .setPart(use.part())
                .setBytes(use.bytes())
                .setExclusiveBytes(use.exclusiveBytes())
                .build();
    }

    public static TemplateState template(TemplateSource.State state) {
        return TemplateState.newBuilder()
                .setDigest(state.digest())
                .setName(state.name())
                .addAllSizesReady(state.ready().stream().map(Size::wireName).toList())
                .build();
    }

    static ProcessInfo process(SandboxProcess process) {
        GuestProcess state = process.state();
        return ProcessInfo.newBuilder()
                .setProcessId(state.id())
                .setPid(state.pid())
                .setState(state.running() ? "RUNNING" : "EXITED")
                .setExitCode(state.exitCode())
                .setSignal(state.signal())
                .setReason(state.reason())
                .setDetail(state.detail())
                .setStartedAtMillis(state.startedUnixMillis())
                .setEndedAtMillis(state.endedUnixMillis())
                .setStdoutBytes(state.stdoutBytes())
                .setStderrBytes(state.stderrBytes())
                .addAllArgv(process.argv())
                .setCommand(process.command())
                .build();
    }

    static ProcessStart start(String id, ProcessSpec spec, boolean stdin) {
        boolean argv = spec.getArgvCount() > 0;
        if (argv != spec.getCommand().isEmpty()) {
            throw invalid("a process has exactly one of argv and command");
        }
        long bytes =
                spec.getCommand().size()
                        + spec.getCwd().size()
                        + spec.getArgvList().stream().mapToLong(ByteString::size).sum()
                        + spec.getEnvMap().entrySet().stream()
                                .mapToLong(e -> e.getKey().length() + e.getValue().length() + 2L)
                                .sum();
        if (bytes > Limits.PROCESS_SPEC_BYTES_MAX) {
            throw invalid(
                    "arguments and environment have "
                            + bytes
                            + " bytes; at most "
                            + Limits.PROCESS_SPEC_BYTES_MAX
                            + " are possible");
        }
        if (spec.getTimeoutMillis() < 0) {
            throw invalid("a time-out cannot be negative");
        }
        return new ProcessStart(
                id,
                spec.getArgvList(),
                spec.getCommand(),
                spec.getEnvMap(),
                spec.getCwd(),
                spec.getUser(),
                spec.getTimeoutMillis(),
                stdin);
    }

    static NetworkPolicy network(dev.space.nodeapi.v1.NetworkPolicy network) {
        return new NetworkPolicy(network.getVersion(), network.getPolicy(), network.getGrants());
    }

    static GuestPath path(FileRequest request) {
        return new GuestPath(request.getPath(), request.getUser());
    }

    static FileInfo file(GuestFile file) {
        return FileInfo.newBuilder()
                .setPath(file.path())
                .setName(file.name())
                .setKind(file.kind())
                .setSize(file.size())
                .setMode(file.mode())
                .setOwner(file.owner())
                .setGroup(file.group())
                .setModifiedUnixNanos(file.modifiedUnixNanos())
                .setSymlinkTarget(file.symlinkTarget())
                .build();
    }

    static SpaceException invalid(String detail) {
        return new SpaceException(ErrorCode.INVALID_ARGUMENT, detail);
    }
}
