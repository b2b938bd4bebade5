package dev.space.node.templates;

import dev.space.model.Size;
import dev.space.node.engine.spi.GuestToken;

/** What a start snapshot says of itself; written last. Holds the guest's token, hence 0600. */
record StartMeta(String digest, Size size, String engine, String bundle, GuestToken token) {

    static final String FILE = "meta.json";
}
