package dev.space.contract.node;

import dev.space.model.Size;
import dev.space.model.SnapshotId;
import org.jspecify.annotations.Nullable;

/**
 * Starts the sandbox of an epoch. Exactly one source: the template's start snapshot ({@code
 * snapshot} is null), or a snapshot of the session.
 *
 * @param template digest of the template; names the root file system in either case
 * @param hostname host name inside the sandbox
 * @param maxProcesses user processes that may run at once
 */
public record StartSandbox(
        StepRef ref,
        String template,
        Size size,
        @Nullable SnapshotId snapshot,
        String hostname,
        int maxProcesses) {}
