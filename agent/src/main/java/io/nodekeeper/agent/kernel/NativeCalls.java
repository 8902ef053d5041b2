package io.nodekeeper.agent.kernel;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Calls functions of the C library that Java has no counterpart for. Each of them returns a negative number if it failed, and leaves
 * why in {@code errno}. Thread-safe.
 */
public final class NativeCalls {
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final long ERRNO = STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    /** A call of a {@link #function}. */
    public interface Call {
        /**
         * Makes the call.
         *
         * @param arena memory that lives as long as the call
         * @param state the first argument of the function
         * @return what the function returned
         */
        long run(Arena arena, MemorySegment state) throws Throwable;
    }

    private NativeCalls() {}

    /**
     * The function {@code name}, whose first argument is the place for {@code errno}.
     *
     * @param type the other arguments and the result
     * @param more options of the linker, such as where variadic arguments begin
     */
    @SuppressWarnings("restricted")
    public static MethodHandle function(String name, FunctionDescriptor type, Linker.Option... more) {
        Linker linker = Linker.nativeLinker();
        Linker.Option[] options = new Linker.Option[more.length + 1];
        options[0] = Linker.Option.captureCallState("errno");
        System.arraycopy(more, 0, options, 1, more.length);
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type, options);
    }

    /**
     * The result of a call.
     *
     * @param name of the function, for messages
     * @param about what it is called for, for messages
     * @throws SyscallException if it failed
     */
    public static long checked(String name, String about, Call call) throws IOException {
        long result = result(name, call);
        if (result < 0) {
            throw new SyscallException(name, about, (int) -result);
        }
        return result;
    }

    /** The result of a call, or the negative error number. */
    public static long result(String name, Call call) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            long result = call.run(arena, state);
            return result < 0 ? -state.get(ValueLayout.JAVA_INT, ERRNO) : result;
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException(name + " could not be called", e);
        }
    }
}
