package dev.space.node.sandbox;

import dev.space.node.engine.spi.GuestToken;

/** What must be known to talk to a live guest again; {@code live/guest.json}, mode 0600. */
record GuestSecrets(GuestToken token) {

    static final String FILE = "guest.json";
}
