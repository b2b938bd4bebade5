package dev.space.node.reports;

import dev.space.nodeapi.v1.Report;

/** Takes a report for the control plane; sequence and time are given by the outbox. */
@FunctionalInterface
public interface ReportSink {

    /** Adds a report; a durable one cannot be lost any more when this returns. */
    void add(Report.Builder report, boolean durable);

    /** Fails with {@code NODE_DISK_FULL} where a report would likely find no room. */
    default void demandRoom() {}
}
