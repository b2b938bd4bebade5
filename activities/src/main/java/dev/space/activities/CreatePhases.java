package dev.space.activities;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.TimeUnit;

/** How long each phase of a creation takes: the workflow's own steps, and the node's. */
@Singleton
public class CreatePhases {
    private final MeterRegistry metrics;

    @Inject
    public CreatePhases(MeterRegistry metrics) {
        this.metrics = metrics;
    }

    /** A phase that began at this {@link System#nanoTime} and ends now. */
    void ended(String phase, long began) {
        record(phase, System.nanoTime() - began, TimeUnit.NANOSECONDS);
    }

    void record(String phase, long time, TimeUnit unit) {
        Timer.builder("space_create_phase")
                .description("Phases of a sandbox's start")
                .tag("phase", phase)
                .publishPercentileHistogram()
                .register(metrics)
                .record(time, unit);
    }
}
