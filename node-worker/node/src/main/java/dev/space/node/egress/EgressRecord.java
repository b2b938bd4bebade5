package dev.space.node.egress;

import dev.space.model.SessionId;

/**
 * One thing that a guest reached, or was refused.
 *
 * @param kind dns, tcp, tls or http
 * @param verdict allow, deny or dry-run-deny
 * @param target name or address, with its port where there is one
 * @param detail why, and what went through
 */
public record EgressRecord(
        SessionId session, long epoch, String kind, String verdict, String target, String detail) {}
