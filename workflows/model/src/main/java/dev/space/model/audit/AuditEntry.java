package dev.space.model.audit;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One record of what was done.
 *
 * @param at to the microsecond
 */
public record AuditEntry(
        Instant at,
        String project,
        @Nullable String session,
        String actor,
        String action,
        String object,
        String outcome,
        String reason,
        @Nullable Long epoch,
        @Nullable String node) {

    private static final String FORM = "space-audit/1";
    private static final int ABSENT = -1;
    private static final long MICROS = 1_000_000;

    /** SHA-256 of all fields, each with its length, so that no two records are the same text. */
    public String digest() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(all)) {
            String[] fields = {FORM, project, actor, action, object, outcome, reason};
            for (String field : fields) {
                write(out, field);
            }
            write(out, session);
            write(out, epoch == null ? null : epoch.toString());
            write(out, node);
            out.writeLong(at.getEpochSecond() * MICROS + at.getNano() / 1_000);
        } catch (IOException e) {
            throw new IllegalStateException("memory cannot fail to be written", e);
        }
        return AuditChain.sha256(all.toByteArray());
    }

    private static void write(DataOutputStream out, @Nullable String field) throws IOException {
        if (field == null) {
            out.writeInt(ABSENT);
        } else {
            byte[] bytes = field.getBytes(StandardCharsets.UTF_8);
            out.writeInt(bytes.length);
            out.write(bytes);
        }
    }
}
