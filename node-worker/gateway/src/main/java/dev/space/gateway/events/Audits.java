package dev.space.gateway.events;

import dev.space.gatewayapi.v1.Audit;
import dev.space.gatewayapi.v1.Event;
import dev.space.gatewayapi.v1.SyntheticAddress;
import dev.space.model.egress.Ipv4;

/** Makes records of one session under one epoch. */
public final class Audits {

    private final EventQueue queue;
    private final String session;
    private final long epoch;

    public Audits(EventQueue queue, String session, long epoch) {
        this.queue = queue;
        this.session = session;
        this.epoch = epoch;
    }

    public void record(Audit audit) {
        queue.add(event().setAudit(audit));
    }

    /** A name got its address, which is kept with the session's snapshots. */
    public void address(String name, int address) {
        queue.add(
                event().setAddress(
                                SyntheticAddress.newBuilder()
                                        .setName(name)
                                        .setAddress(Ipv4.text(address))));
    }

    private Event.Builder event() {
        return Event.newBuilder()
                .setTimeMillis(System.currentTimeMillis())
                .setSessionId(session)
                .setEpoch(epoch);
    }
}
