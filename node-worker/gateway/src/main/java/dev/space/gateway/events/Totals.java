package dev.space.gateway.events;

import dev.space.model.egress.EgressReason;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Sums of the whole process, for metrics. */
public final class Totals {

    private final Map<EgressReason, LongAdder> refused = new EnumMap<>(EgressReason.class);

    public final LongAdder connectionsAllowed = new LongAdder();
    public final LongAdder namesAnswered = new LongAdder();
    public final LongAdder bytesUp = new LongAdder();
    public final LongAdder bytesDown = new LongAdder();

    /** Connections of sandboxes that are open, for the bound of the whole process. */
    public final AtomicInteger open = new AtomicInteger();

    /** Starts at zero, with a sum for every reason there is. */
    public Totals() {
        for (EgressReason reason : EgressReason.values()) {
            refused.put(reason, new LongAdder());
        }
    }

    /** How often there was a refusal or failure for this reason. */
    public LongAdder refused(EgressReason reason) {
        return Objects.requireNonNull(refused.get(reason));
    }
}
