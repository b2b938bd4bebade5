package dev.space.node.templates;

import dev.space.model.Size;
import dev.space.node.engine.spi.GuestToken;
import org.jspecify.annotations.Nullable;

/**
 * What a start snapshot says of itself; written last. Holds the guest's token, hence 0600.
 *
 * @param root which certificate it trusts besides the template's; null in those of earlier releases
 */
record StartMeta(
        String digest,
        Size size,
        String engine,
        String bundle,
        GuestToken token,
        @Nullable String root) {

    static final String FILE = "meta.json";
}
