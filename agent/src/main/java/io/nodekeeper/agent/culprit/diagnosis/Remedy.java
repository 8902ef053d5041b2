package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.scan.ProcessRef;
import java.util.List;
import java.util.stream.Collectors;

/** The least intrusive action that removes a culprit. Immutable. */
public sealed interface Remedy {
    /** The remedy when the runtime itself hangs: an operator has to restart it. */
    Remedy RESTART_RUNTIME = new Advice("restart the container runtime, e.g. systemctl restart containerd");

    /** The action as an operator would type or perform it. */
    String text();

    /** Kill these processes with SIGKILL, in this order. */
    record KillProcesses(List<ProcessRef> processes) implements Remedy {
        @Override
        public String text() {
            return "kill -KILL " + pids(processes);
        }
    }

    /** Continue a stopped process with SIGCONT. */
    record ContinueProcess(ProcessRef process) implements Remedy {
        @Override
        public String text() {
            return "kill -CONT " + process.pid();
        }
    }

    /** Let the runtime remove a sandbox and its containers by force; the pod's owner starts it again. */
    record RemoveSandbox(String id) implements Remedy {
        @Override
        public String text() {
            return "remove sandbox " + id + " (crictl rmp -f " + id + ")";
        }
    }

    /** An action that only an operator should take. */
    record Advice(String text) implements Remedy {}

    private static String pids(List<ProcessRef> processes) {
        return processes.stream()
                .map(process -> Integer.toString(process.pid()))
                .collect(Collectors.joining(" "));
    }
}
