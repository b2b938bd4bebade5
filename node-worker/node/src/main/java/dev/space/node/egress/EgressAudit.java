package dev.space.node.egress;

import dev.space.model.SessionId;
import dev.space.node.reports.ReportSink;
import dev.space.nodeapi.v1.AuditRecord;
import dev.space.nodeapi.v1.Report;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Passes the gateway's records on. A guest makes as many as it likes, so each session has a number
 * of them for each minute; what is more is counted, and the count is told in the next minute.
 */
final class EgressAudit {

    static final String ACTOR = "gateway";
    static final String PREFIX = "egress.";
    static final int PER_MINUTE_MAX = 120;

    private static final int TARGET_CHARS_MAX = 512;
    private static final int DETAIL_CHARS_MAX = 512;
    private static final long MINUTE_NANOS = 60_000_000_000L;

    private final ReportSink sink;
    private final LongSupplier nanos;
    private final Map<SessionId, Minute> minutes = new HashMap<>();

    EgressAudit(ReportSink sink, LongSupplier nanos) {
        this.sink = sink;
        this.nanos = nanos;
    }

    private static final class Minute {
        private final long began;
        private int told;
        private long untold;

        Minute(long began) {
            this.began = began;
        }
    }

    synchronized void add(EgressRecord entry) {
        Minute minute = minutes.get(entry.session());
        long now = nanos.getAsLong();
        if (minute == null || now - minute.began >= MINUTE_NANOS) {
            tellGap(entry.session(), entry.epoch(), minute);
            minute = new Minute(now);
            minutes.put(entry.session(), minute);
        }
        if (minute.told >= PER_MINUTE_MAX) {
            minute.untold++;
            return;
        }
        minute.told++;
        send(entry);
    }

    /** The session ended here. */
    synchronized void forget(SessionId session, long epoch) {
        tellGap(session, epoch, minutes.remove(session));
    }

    private void tellGap(SessionId session, long epoch, @Nullable Minute minute) {
        if (minute != null && minute.untold > 0) {
            String count = minute.untold + " records left out";
            send(
                    new EgressRecord(
                            session,
                            epoch,
                            "gap",
                            "gap",
                            count,
                            "more than " + PER_MINUTE_MAX + " in a minute"));
        }
    }

    private void send(EgressRecord entry) {
        sink.add(
                Report.newBuilder()
                        .setSessionId(entry.session().value())
                        .setEpoch(entry.epoch())
                        .setAudit(
                                AuditRecord.newBuilder()
                                        .setActor(ACTOR)
                                        .setAction(PREFIX + entry.kind())
                                        .setObject(cut(entry.target(), TARGET_CHARS_MAX))
                                        .setOutcome(entry.verdict())
                                        .setDetail(cut(entry.detail(), DETAIL_CHARS_MAX))),
                false);
    }

    private static String cut(String text, int max) {
        return text.length() <= max ? text : text.substring(0, max);
    }
}
