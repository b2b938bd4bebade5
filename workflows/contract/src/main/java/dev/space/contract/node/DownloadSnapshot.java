package dev.space.contract.node;

import dev.space.contract.session.DurableRef;
import dev.space.model.Size;

/**
 * Publishes a stored snapshot on this node, every part verified before. One that is here already,
 * the session's old node has it, is left as it is.
 *
 * @param template digest of the template that its disk grew from
 */
public record DownloadSnapshot(StepRef ref, DurableRef source, String template, Size size) {}
