package dev.space.contract.session;

import dev.space.model.ReasonCode;

/** Why the session is as it is. */
public record Reason(ReasonCode code, String text, long atMillis) {}
