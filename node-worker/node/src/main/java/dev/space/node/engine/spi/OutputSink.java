package dev.space.node.engine.spi;

import com.google.protobuf.ByteString;

/**
 * Receives a process's output in order, from one thread at a time. Blocking holds the guest back.
 */
public interface OutputSink {

    void output(boolean stderr, long offset, ByteString data);

    /** After the last output. */
    void exited(GuestProcess last);

    /** Nothing more comes over this link; the process may run on. */
    void detached(Throwable why);
}
