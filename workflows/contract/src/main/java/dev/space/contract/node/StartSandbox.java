package dev.space.contract.node;

import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SnapshotId;
import org.jspecify.annotations.Nullable;

/**
 * Starts the sandbox of an epoch. Exactly one source: the template's start snapshot ({@code
 * snapshot} is null), or a snapshot of the session or of the one it was forked from.
 *
 * @param template digest of the template; names the root file system in either case
 * @param origin session that the snapshot is of; null: of this one
 * @param hostname host name inside the sandbox
 * @param maxProcesses user processes that may run at once
 * @param newest start from the newest complete checkpoint of the session's present, which the node
 *     knows: {@code snapshot} says only what was known before, and null is not the template
 * @param noNetwork the session may reach nothing as this is sent: the node need not ask for its
 *     policy. False says nothing
 */
public record StartSandbox(
        StepRef ref,
        String template,
        Size size,
        @Nullable SnapshotId snapshot,
        @Nullable SessionId origin,
        String hostname,
        int maxProcesses,
        boolean newest,
        boolean noNetwork) {

    /** Without a word on what the session may reach. */
    public StartSandbox(
            StepRef ref,
            String template,
            Size size,
            @Nullable SnapshotId snapshot,
            @Nullable SessionId origin,
            String hostname,
            int maxProcesses,
            boolean newest) {
        this(ref, template, size, snapshot, origin, hostname, maxProcesses, newest, false);
    }

    /** From that very source. */
    public StartSandbox(
            StepRef ref,
            String template,
            Size size,
            @Nullable SnapshotId snapshot,
            @Nullable SessionId origin,
            String hostname,
            int maxProcesses) {
        this(ref, template, size, snapshot, origin, hostname, maxProcesses, false);
    }
}
