package dev.space.gateway.app;

import dev.space.gateway.events.EventQueue;
import dev.space.gateway.events.Totals;
import dev.space.gateway.slot.SlotTable;
import dev.space.model.egress.EgressReason;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.concurrent.atomic.LongAdder;

/** What the process tells about itself. */
final class Metrics {

    private Metrics() {}

    static PrometheusMeterRegistry of(Totals totals, EventQueue events, SlotTable slots) {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Gauge.builder("space.gateway.slots", slots, s -> s.list().size())
                .description("Slots that are bound to a session")
                .register(registry);
        Gauge.builder("space.gateway.connections.open", totals.open, o -> o.get())
                .description("Connections of sandboxes that are open")
                .register(registry);
        Gauge.builder("space.gateway.events", events, EventQueue::size)
                .description("Audit records that are not acknowledged")
                .register(registry);
        FunctionCounter.builder("space.gateway.events.dropped", events, EventQueue::dropped)
                .description("Audit records that were dropped because nobody took them")
                .register(registry);
        counter(registry, "space.gateway.connections", totals.connectionsAllowed);
        counter(registry, "space.gateway.names", totals.namesAnswered);
        counter(registry, "space.gateway.bytes.up", totals.bytesUp);
        counter(registry, "space.gateway.bytes.down", totals.bytesDown);
        for (EgressReason reason : EgressReason.values()) {
            FunctionCounter.builder("space.gateway.refused", totals.refused(reason), LongAdder::sum)
                    .tag("reason", reason.name())
                    .description("Names, connections and requests that were refused or failed")
                    .register(registry);
        }
        return registry;
    }

    private static void counter(PrometheusMeterRegistry registry, String name, LongAdder sum) {
        FunctionCounter.builder(name, sum, LongAdder::sum).register(registry);
    }
}
