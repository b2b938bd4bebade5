package dev.space.cli.supervisor;

import java.util.List;
import java.util.stream.Stream;

/**
 * When the JVMs of the platform and of its benchmark compile their code. They share few cores with
 * the VMs, serve little but at once, and much of what a request runs, it runs once: with the JDK's
 * thresholds a method called once a request is interpreted for the first 200. Figures:
 * docs/benchmarks.md, "An exec, taken apart".
 */
public final class Compilation {
    private static final String SCALE = "-XX:CompileCommand=CompileThresholdScaling,";

    /**
     * The first compiler alone, ten times sooner. Over thousands of creations the second one took
     * more time than its code saved, on the cores that the servers need.
     */
    public static final List<String> FIRST_ONLY =
            List.of("-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=0.1");

    /**
     * The first compiler ten times sooner, the second forty times later, but for what must be fast
     * with any amount of data: the first compiler does not know the processor's instructions for
     * AES and SHA, without which a suspend encrypts 8 MB/s instead of 900.
     */
    static final List<String> SECOND_FOR_BULK =
            List.of(
                    "-XX:Tier3InvocationThreshold=20",
                    "-XX:Tier3MinInvocationThreshold=10",
                    "-XX:Tier3CompileThreshold=200",
                    "-XX:Tier3BackEdgeThreshold=6000",
                    "-XX:Tier4InvocationThreshold=200000",
                    "-XX:Tier4MinInvocationThreshold=24000",
                    "-XX:Tier4CompileThreshold=600000",
                    "-XX:Tier4BackEdgeThreshold=1600000",
                    "-XX:CompileCommand=quiet",
                    SCALE + "com.sun.crypto.provider.*::*,0.01",
                    SCALE + "sun.security.provider.*::*,0.01",
                    SCALE + "dev.space.durable.*::*,0.025");

    static final String GATEWAY_HEAP = "-Xmx256m";

    /** What decides the speed of the gateway, for its benchmark. */
    public static final List<String> GATEWAY =
            Stream.concat(
                            Stream.of("-XX:+UseSerialGC", "-Xms16m", GATEWAY_HEAP),
                            SECOND_FOR_BULK.stream())
                    .toList();

    private Compilation() {}
}
