package dev.space.node.app;

import dev.space.node.api.Wire;
import dev.space.node.config.NodeConfig;
import dev.space.node.engine.spi.EngineInfo;
import dev.space.node.pool.WarmPool;
import dev.space.node.sandbox.MemoryBudget;
import dev.space.nodeapi.v1.EngineCapabilities;
import dev.space.nodeapi.v1.RegisterRequest;
import dev.space.nodeapi.v1.RenewRequest;

/** What the control plane is told of the node. */
record Figures(
        NodeConfig.Node node,
        Wiring wiring,
        MemoryBudget memory,
        WarmPool pool,
        String apiAddress) {

    private static final String VERSION = "0.1.0";

    RegisterRequest registration() {
        EngineInfo engine = wiring.engine().info();
        return RegisterRequest.newBuilder()
                .setNodeId(node.id())
                .setApiAddress(apiAddress)
                .addEngines(
                        EngineCapabilities.newBuilder()
                                .setName(engine.name())
                                .setBundleDigest(engine.bundleDigest())
                                .setAccelerator(engine.accelerator())
                                .setMemorySnapshot(engine.memorySnapshot())
                                .setVmgenid(engine.vmgenid())
                                .addAllFeatures(engine.features()))
                .addAllTemplates(wiring.templates().states().stream().map(Wire::template).toList())
                .setMemoryBytes(memory.totalBytes())
                .setDiskBytes(wiring.volume().totalBytes())
                .setSlots(engine.slots())
                .setVersion(VERSION)
                .build();
    }

    RenewRequest renewal() {
        return RenewRequest.newBuilder()
                .setNodeId(node.id())
                .setMemoryFreeBytes(memory.freeBytes())
                .setDiskFreeBytes(wiring.volume().freeBytes())
                // What waits is given up for whoever needs its slot.
                .setSlotsFree(wiring.engine().freeSlots() + pool.hotCount() + pool.preparedCount())
                .addAllTemplates(wiring.templates().states().stream().map(Wire::template).toList())
                .build();
    }
}
