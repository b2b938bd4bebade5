package dev.space.node.sandbox;

import dev.space.model.Fence;
import dev.space.model.OperationId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * All that the node remembers of a session beside its files: one line of the journal.
 *
 * @param highest highest fence seen; lower ones are refused
 * @param live the VM, or null when the session has none here
 * @param present what ran last, or null when nothing did
 */
record SessionRecord(
        Fence highest, @Nullable LiveVm live, List<StepResult> results, @Nullable Present present) {

    /** Answers that are kept for retries; older operations cannot be retried any more. */
    private static final int RESULTS_MAX = 16;

    static final SessionRecord EMPTY = new SessionRecord(new Fence(0, 0, 0), null, List.of(), null);

    SessionRecord {
        results = List.copyOf(results);
    }

    SessionRecord seen(Fence fence) {
        return fence.compareTo(highest) > 0
                ? new SessionRecord(fence, live, results, present)
                : this;
    }

    SessionRecord withLive(@Nullable LiveVm next) {
        return new SessionRecord(highest, next, results, present);
    }

    SessionRecord withPresent(Present next) {
        return new SessionRecord(highest, live, results, next);
    }

    SessionRecord withResult(StepResult result) {
        List<StepResult> next = new ArrayList<>(results);
        next.removeIf(
                r -> r.operation().equals(result.operation()) && r.step().equals(result.step()));
        next.add(result);
        int from = Math.max(0, next.size() - RESULTS_MAX);
        return new SessionRecord(highest, live, next.subList(from, next.size()), present);
    }

    /** After an end, a start of the same operation must really start again. */
    SessionRecord withoutStartResults() {
        return new SessionRecord(
                highest,
                live,
                results.stream().filter(r -> !r.step().equals(StepResult.START)).toList(),
                present);
    }

    Optional<StepResult> result(OperationId operation, String step) {
        return results.stream()
                .filter(r -> r.operation().equals(operation) && r.step().equals(step))
                .findFirst();
    }
}
