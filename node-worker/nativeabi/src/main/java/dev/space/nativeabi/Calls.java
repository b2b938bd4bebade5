package dev.space.nativeabi;

import dev.space.nativeabi.raw.Libc;
import java.lang.foreign.Arena;

/** What all wrappers share: the end of a descriptor, and the way out of a method handle. */
final class Calls {

    private Calls() {}

    /** A method handle declares Throwable; what really comes is ours or unchecked. */
    static NativeException rethrow(Throwable e) {
        return switch (e) {
            case NativeException n -> n;
            case RuntimeException r -> throw r;
            case Error r -> throw r;
            default -> throw new IllegalStateException("a downcall threw", e);
        };
    }

    /**
     * JUSTIFICATION: descriptors opened by us are unknown to the JDK. SAFETY: called once for each
     * descriptor by its owner; close is not repeated on EINTR because Linux has freed the number.
     */
    static void close(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            int _ = (int) Libc.CLOSE.invokeExact(Libc.state(arena), descriptor);
        } catch (Throwable e) {
            throw new IllegalStateException("close", e);
        }
    }
}
