package dev.space.node.sandbox;

import dev.space.node.egress.Egress;
import dev.space.node.engine.spi.Engine;
import dev.space.node.engine.spi.StartPermit;
import dev.space.node.templates.TemplateSource;
import dev.space.node.volumes.SnapshotStore;
import dev.space.node.volumes.Volume;
import java.nio.file.Path;
import java.time.Clock;

/** What the steps work on. */
public record NodeParts(
        Engine engine,
        Volume volume,
        SnapshotStore snapshots,
        LiveFiles liveFiles,
        TemplateSource templates,
        ObjectStore objects,
        MemoryBudget memory,
        ReadyVms ready,
        Egress egress,
        VmReports reports,
        StartPermit permit,
        CrashPoints crash,
        Clock clock,
        Path stateDirectory) {}
