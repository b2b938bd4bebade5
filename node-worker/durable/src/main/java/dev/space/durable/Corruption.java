package dev.space.durable;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;

/** Makes the one failure for everything that is not as it was stored. */
final class Corruption {

    private Corruption() {}

    static SpaceException of(String what) {
        return new SpaceException(
                ErrorCode.SNAPSHOT_CORRUPT,
                what + "; nothing was restored from it, take an older snapshot");
    }
}
