package dev.space.nativeabi;

import dev.space.nativeabi.raw.Libc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

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

    /** A call that answers a descriptor or a count, and a negative number when it failed. */
    interface Call {
        long run(MemorySegment state) throws Throwable;
    }

    /** Runs the call again while a signal interrupts it. */
    static long checked(String name, String subject, Call call) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Libc.state(arena);
            while (true) {
                long result = call.run(state);
                if (result >= 0) {
                    return result;
                }
                int errno = Libc.errno(state);
                if (errno != NativeException.EINTR) {
                    throw new NativeException(name, subject, errno);
                }
            }
        } catch (Throwable e) {
            throw rethrow(e);
        }
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
