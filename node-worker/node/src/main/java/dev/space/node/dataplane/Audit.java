package dev.space.node.dataplane;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.reports.ReportSink;
import dev.space.node.sandbox.Sandbox;
import dev.space.nodeapi.v1.AuditRecord;
import dev.space.nodeapi.v1.Report;
import dev.space.nodeapi.v1.Target;
import java.util.function.Function;

/** Records each action in a sandbox: who, what, when, outcome; never content. */
public final class Audit {

    private static final int OBJECT_CHARS_MAX = 512;
    private static final int ACTOR_CHARS_MAX = 128;

    private final ReportSink sink;

    public Audit(ReportSink sink) {
        this.sink = sink;
    }

    /** Runs the action and records how it went. */
    public <T> T action(
            Sandbox sandbox,
            Target target,
            String action,
            String object,
            Function<Sandbox, T> body) {
        sink.demandRoom();
        String outcome = ErrorCode.INTERNAL.name();
        try {
            T answer = body.apply(sandbox);
            outcome = "OK";
            return answer;
        } catch (SpaceException e) {
            outcome = e.code().name();
            throw e;
        } finally {
            record(sandbox, target, action, object, outcome);
        }
    }

    private void record(
            Sandbox sandbox, Target target, String action, String object, String outcome) {
        Report.Builder report =
                Report.newBuilder()
                        .setSessionId(sandbox.session().value())
                        .setEpoch(sandbox.start().epoch())
                        .setNumber(sandbox.start().number())
                        .setAttempt(sandbox.start().attempt())
                        .setAudit(
                                AuditRecord.newBuilder()
                                        .setActor(cut(target.getActor(), ACTOR_CHARS_MAX))
                                        .setAction(action)
                                        .setObject(cut(object, OBJECT_CHARS_MAX))
                                        .setOutcome(outcome));
        sink.add(report, false);
    }

    private static String cut(String text, int max) {
        return text.length() <= max ? text : text.substring(0, max);
    }
}
