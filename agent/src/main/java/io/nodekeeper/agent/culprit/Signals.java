package io.nodekeeper.agent.culprit;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Sends signals with the C library's {@code kill}, because Java cannot continue a stopped process. Thread-safe. */
public final class Signals {
    /** SIGKILL on every Linux. */
    public static final int KILL = 9;
    /** SIGTERM on every Linux. */
    public static final int TERM = 15;
    /** SIGCONT on Linux, except on MIPS and Alpha. */
    public static final int CONT = 18;

    private static final StructLayout ERRNO = Linker.Option.captureStateLayout();
    private static final MethodHandle CALL = handle();

    private Signals() {}

    /**
     * Sends {@code signal} to exactly one process. Refuses pids below 2: they stand for process groups, all processes
     * or init.
     */
    public static void send(int pid, int signal) throws IOException {
        if (pid < 2) {
            throw new IllegalArgumentException("pid is " + pid + "; expected the pid of a single process, at least 2");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO);
            if (call(state, pid, signal) != 0) {
                int errno = (int) ERRNO.varHandle(MemoryLayout.PathElement.groupElement("errno"))
                        .get(state, 0L);
                throw new IOException("signal " + signal + " to pid " + pid + " failed with errno " + errno);
            }
        }
    }

    private static int call(MemorySegment state, int pid, int signal) throws IOException {
        try {
            return (int) CALL.invokeExact(state, pid, signal);
        } catch (Throwable e) {
            throw new IOException("kill could not be called", e);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow("kill"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
                Linker.Option.captureCallState("errno"));
    }
}
