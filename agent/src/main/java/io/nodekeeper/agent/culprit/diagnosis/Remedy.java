package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.scan.ProcessRef;
import java.util.List;
import java.util.stream.Collectors;

/** What to do about a culprit: the least that helps. Immutable. */
public sealed interface Remedy {
    /** What is left to do when the runtime itself hangs: a person has to restart it. */
    Remedy RESTART_RUNTIME = new Advice("restart the container runtime, e.g. systemctl restart containerd");

    /** What a person would type or do. */
    String text();

    /** End these processes with SIGKILL, in this order; nobody needs them to end well. */
    record KillProcesses(List<ProcessRef> processes) implements Remedy {
        @Override
        public String text() {
            return "kill -KILL " + pids(processes);
        }
    }

    /** Let a stopped process go on with SIGCONT. */
    record ContinueProcess(ProcessRef process) implements Remedy {
        @Override
        public String text() {
            return "kill -CONT " + process.pid();
        }
    }

    /** Have the runtime remove a sandbox and what is in it by force; the pod is started anew by whoever wants it. */
    record RemoveSandbox(String id) implements Remedy {
        @Override
        public String text() {
            return "remove sandbox " + id + " (crictl rmp -f " + id + ")";
        }
    }

    /** Something that only a person should do. */
    record Advice(String text) implements Remedy {}

    private static String pids(List<ProcessRef> processes) {
        return processes.stream()
                .map(process -> Integer.toString(process.pid()))
                .collect(Collectors.joining(" "));
    }
}
