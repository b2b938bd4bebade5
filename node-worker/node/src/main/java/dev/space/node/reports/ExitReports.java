package dev.space.node.reports;

import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.sandbox.VmReports;
import dev.space.nodeapi.v1.Report;
import dev.space.nodeapi.v1.VmExited;

/** Puts the end of a VM into the outbox. */
public record ExitReports(ReportSink sink) implements VmReports {

    @Override
    public void exited(SessionId session, Fence start, VmExit exit) {
        sink.add(
                Report.newBuilder()
                        .setSessionId(session.value())
                        .setEpoch(start.epoch())
                        .setNumber(start.number())
                        .setAttempt(start.attempt())
                        .setVmExited(
                                VmExited.newBuilder()
                                        .setReason(exit.reason().name())
                                        .setExitCode(exit.exitCode())
                                        .setSignal(exit.signal())
                                        .setDetail(exit.detail())),
                true);
    }
}
