package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.scan.ProcessRef;
import java.util.List;
import java.util.stream.Collectors;

/** An action that may remove a culprit, with its cost. Immutable. */
public sealed interface Remedy {
    /** The action as an operator would type or perform it. */
    String text();

    /** What the action costs, for operators; {@link #NO_LOSS} if it costs nothing. */
    String loses();

    /** Whether the action ends something of a running pod, so that it needs an explicit {@code --force}. */
    default boolean needsForce() {
        return false;
    }

    /** The text of {@link #loses} for an action without a cost. */
    String NO_LOSS = "nothing";

    /** Kill these commands of the runtime (CNI plugins, OCI runtimes and their helpers) with SIGKILL, in this order. */
    record KillProcesses(List<ProcessRef> processes) implements Remedy {
        @Override
        public String text() {
            return "kill -KILL " + pids(processes);
        }

        @Override
        public String loses() {
            return "the attempt that these processes belong to; the runtime or the kubelet repeats it";
        }
    }

    /**
     * End one process that is not a command of the runtime: a tracer, the holder of a lock, a file system's server, a
     * shim.
     *
     * @param kill whether with SIGKILL; else with SIGTERM, which lets it clean up
     * @param loses what ends with it, for operators
     */
    record EndProcess(ProcessRef process, boolean kill, String loses) implements Remedy {
        @Override
        public String text() {
            return (kill ? "kill -KILL " : "kill -TERM ") + process.pid() + " (" + process.command() + ")";
        }

        @Override
        public boolean needsForce() {
            return true;
        }
    }

    /** Continue a stopped process with SIGCONT. */
    record ContinueProcess(ProcessRef process) implements Remedy {
        @Override
        public String text() {
            return "kill -CONT " + process.pid();
        }

        @Override
        public String loses() {
            return NO_LOSS;
        }
    }

    /**
     * Thaw a frozen cgroup.
     *
     * @param file the freezer's control file: {@code cgroup.freeze} of version 2, {@code freezer.state} of version 1
     * @param value what to write: {@code 0} for version 2, {@code THAWED} for version 1
     */
    record ThawCgroup(String file, String value) implements Remedy {
        @Override
        public String text() {
            return "echo " + value + " > " + file;
        }

        @Override
        public String loses() {
            return NO_LOSS;
        }
    }

    /** Let the runtime remove a sandbox and its containers by force; the pod's owner starts it again. */
    record RemoveSandbox(String id) implements Remedy {
        @Override
        public String text() {
            return "remove sandbox " + id + " (crictl rmp -f " + id + ")";
        }

        @Override
        public String loses() {
            return "the pod's containers and their local data; the pod's owner creates it again";
        }

        @Override
        public boolean needsForce() {
            return true;
        }
    }

    /** An action that only an operator can take. */
    record Advice(String text) implements Remedy {
        @Override
        public String loses() {
            return NO_LOSS;
        }
    }

    private static String pids(List<ProcessRef> processes) {
        return processes.stream()
                .map(process -> Integer.toString(process.pid()))
                .collect(Collectors.joining(" "));
    }
}
