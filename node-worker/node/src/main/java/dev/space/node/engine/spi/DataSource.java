package dev.space.node.engine.spi;

import com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/** Gives pieces of a file that is written. */
public interface DataSource {

    /** The next piece, or null at the end; blocks until there is one. */
    @Nullable ByteString next();
}
