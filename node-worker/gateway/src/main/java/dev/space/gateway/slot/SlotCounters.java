package dev.space.gateway.slot;

import dev.space.gatewayapi.v1.Counters;

/** What one binding did. Written on its slot's loop only. */
public final class SlotCounters {

    long connectionsAllowed;
    long connectionsRefused;
    long requestsRefused;
    long namesAnswered;
    long namesRefused;
    long bytesUp;
    long bytesDown;
    long recordsDropped;

    Counters snapshot() {
        return Counters.newBuilder()
                .setConnectionsAllowed(connectionsAllowed)
                .setConnectionsRefused(connectionsRefused)
                .setRequestsRefused(requestsRefused)
                .setNamesAnswered(namesAnswered)
                .setNamesRefused(namesRefused)
                .setBytesUp(bytesUp)
                .setBytesDown(bytesDown)
                .setRecordsDropped(recordsDropped)
                .build();
    }
}
