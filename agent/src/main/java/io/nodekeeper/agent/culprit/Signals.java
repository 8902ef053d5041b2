package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.kernel.NativeCalls;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
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

    private static final MethodHandle KILL_CALL = NativeCalls.function(
            "kill", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    private Signals() {}

    /**
     * Sends {@code signal} to exactly one process. Refuses pids below 2: they stand for process groups, all processes
     * or init.
     */
    public static void send(int pid, int signal) throws IOException {
        if (pid < 2) {
            throw new IllegalArgumentException("pid is " + pid + "; expected the pid of a single process, at least 2");
        }
        NativeCalls.checked("kill", "pid " + pid, (arena, state) -> (int) KILL_CALL.invokeExact(state, pid, signal));
    }
}
