package dev.space.node.app;

import dev.space.node.config.NodeConfig;
import dev.space.node.engine.fake.FakeEngine;
import dev.space.node.engine.fake.FakeMachine;
import dev.space.node.engine.fake.FaultPlan;
import dev.space.node.engine.spi.Engine;
import dev.space.node.sandbox.LiveFiles;
import dev.space.node.templates.FakeTemplates;
import dev.space.node.templates.TemplateSource;
import dev.space.node.volumes.CopyCloner;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;

/** The parts that depend on which engine the node has. */
record Wiring(Volume volume, Engine engine, TemplateSource templates, LiveFiles liveFiles) {

    private static final String VOLUME = "main";
    private static final Duration FAKE_DELAY_MAX = Duration.ofMillis(50);
    private static final int MEMORY_NUMERATOR = 4;
    private static final int MEMORY_DENOMINATOR = 5;

    static Wiring of(NodeConfig.Node node) {
        return switch (node.engine()) {
            case FakeEngine.NAME -> fake(node);
            default ->
                    throw new IllegalArgumentException(
                            "space.node.engine is qemu or fake, not " + node.engine());
        };
    }

    static Path root(NodeConfig.Node node) {
        return node.dataDir().resolve("volumes").resolve(VOLUME);
    }

    private static Wiring fake(NodeConfig.Node node) {
        Volume volume = new Volume(root(node), new CopyCloner(), node.diskReserveMib() << 20);
        FaultPlan faults =
                node.fakeFaultPercent() == 0
                        ? FaultPlan.NONE
                        : new FaultPlan(node.fakeSeed(), node.fakeFaultPercent(), FAKE_DELAY_MAX);
        Engine engine = new FakeEngine(new FakeMachine(), faults, Clock.systemUTC(), node.slots());
        return new Wiring(volume, engine, new FakeTemplates(volume), new LiveFiles(volume, false));
    }

    /** Memory for sandboxes: as configured, or a share of the machine's. */
    static long memoryBytes(NodeConfig.Node node) {
        if (node.memoryMib() > 0) {
            return node.memoryMib() << 20;
        }
        try {
            for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
                if (line.startsWith("MemTotal:")) {
                    String digits = line.replaceAll("\\D", "");
                    long total = Long.parseLong(digits) << 10;
                    return total / MEMORY_DENOMINATOR * MEMORY_NUMERATOR;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("/proc/meminfo does not tell the machine's memory");
    }
}
