package dev.space.workflow;

import dev.space.contract.session.DurableRef;
import dev.space.contract.session.InFlight;
import dev.space.contract.session.SessionAttributes;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SessionStart;
import io.temporal.workflow.Workflow;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What operators see of a session in the Temporal UI. */
final class Visibility {

    /** A node that is none: a search attribute cannot be searched for by its absence. */
    private static final String NO_NODE = "none";

    private final SessionStart session;
    private @Nullable String shownState;
    private @Nullable String shownNode;

    Visibility(SessionStart session) {
        this.session = session;
    }

    /** Called when an operation has ended; sends only what changed. */
    void show(SessionRecord record) {
        String state = record.state().name();
        String node = record.node() == null ? NO_NODE : record.node();
        if (shownState == null) {
            Workflow.upsertTypedSearchAttributes(
                    SessionAttributes.ORGANISATION.valueSet(session.organisation().value()),
                    SessionAttributes.PROJECT.valueSet(session.project().value()),
                    SessionAttributes.TEMPLATE.valueSet(session.template()),
                    SessionAttributes.STATE.valueSet(state),
                    SessionAttributes.NODE.valueSet(node));
        } else if (!state.equals(shownState) || !Objects.equals(node, shownNode)) {
            Workflow.upsertTypedSearchAttributes(
                    SessionAttributes.STATE.valueSet(state), SessionAttributes.NODE.valueSet(node));
        }
        shownState = state;
        shownNode = node;
        tell(record);
    }

    /** What a lost node would leave, and from when it is. */
    private static String stored(@Nullable DurableRef durable) {
        return durable == null
                ? ""
                : " ("
                        + durable.snapshot().id()
                        + " of "
                        + Instant.ofEpochMilli(durable.snapshot().takenAtMillis())
                        + ")";
    }

    /** Costs nothing: the text is only read when somebody looks. */
    void tell(SessionRecord record) {
        Workflow.setCurrentDetails(details(record));
    }

    /** Markdown, because the UI renders it. */
    static String details(SessionRecord record) {
        InFlight now = record.inFlight();
        String operation =
                now == null ? "none" : now.kind() + " #" + now.number() + ", step " + now.step();
        String node = record.node() == null ? NO_NODE : record.node();
        return "**"
                + record.state()
                + "** on "
                + node
                + (record.nodeAway() ? " (node away)" : "")
                + "\n\n- epoch "
                + record.epoch()
                + "\n- durability "
                + record.durability()
                + stored(record.durable())
                + "\n- operation "
                + operation
                + "\n- last reason "
                + record.reason().code()
                + (record.reason().text().isEmpty() ? "" : ": " + record.reason().text())
                + "\n";
    }
}
