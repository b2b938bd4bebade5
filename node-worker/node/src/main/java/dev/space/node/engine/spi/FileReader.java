package dev.space.node.engine.spi;

import com.google.protobuf.ByteString;

/** Receives a file; blocking holds the guest back. */
public interface FileReader {

    void info(GuestFile file);

    void data(ByteString data);
}
