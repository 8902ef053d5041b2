package io.nodekeeper.agent.culprit.repair;

import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Decides from the state of what a remedy acted on whether it had its own effect. Pure. */
final class Effect {
    private Effect() {}

    /**
     * The state after a remedy was applied.
     *
     * @param alive the state letters of the remedy's processes that still exist
     * @param freezer the text of the file that shows the state of the remedy's cgroup; empty if it cannot be read
     * @param sandboxes the sandboxes that the runtime lists
     */
    record After(Map<ProcessRef, Character> alive, Optional<String> freezer, Set<String> sandboxes) {}

    /** Why {@code remedy} has had no effect; empty if it had. */
    static Optional<String> missing(Remedy remedy, After after) {
        return switch (remedy) {
            case Remedy.KillProcesses(List<ProcessRef> processes) -> running(processes, after);
            case Remedy.EndProcess end -> running(List.of(end.process()), after);
            case Remedy.ContinueProcess(ProcessRef process) ->
                Optional.ofNullable(after.alive().get(process))
                        .filter(state -> state == 'T')
                        .map(state -> "pid " + process.pid() + " is still stopped (state T)");
            case Remedy.ThawCgroup thaw -> frozen(thaw.file(), after.freezer());
            case Remedy.RemoveSandbox(String id) ->
                after.sandboxes().contains(id)
                        ? Optional.of("the container runtime still lists the sandbox")
                        : Optional.empty();
            case Remedy.Advice advice -> Optional.of("only an operator can do it");
        };
    }

    /** The file that shows whether the cgroup with this control file is frozen, also by a cgroup above it. */
    static String stateFile(String control) {
        return control.endsWith("/cgroup.freeze")
                ? control.substring(0, control.length() - "cgroup.freeze".length()) + "cgroup.events"
                : control;
    }

    private static Optional<String> running(List<ProcessRef> processes, After after) {
        List<String> still = new ArrayList<>();
        for (ProcessRef process : processes) {
            Character state = after.alive().get(process);
            // A zombie has ended; its parent removes the entry.
            if (state != null && state != 'Z' && state != 'X') {
                still.add("pid " + process.pid() + " still runs (state " + state + ")");
            }
        }
        return still.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", still));
    }

    private static Optional<String> frozen(String control, Optional<String> text) {
        if (text.isEmpty()) {
            // The cgroup is gone, and with it its processes.
            return Optional.empty();
        }
        boolean thawed = text.get().strip().equals("THAWED")
                || text.get().lines().anyMatch(line -> line.strip().equals("frozen 0"));
        return thawed ? Optional.empty() : Optional.of(stateFile(control) + " still says " + oneLine(text.get()));
    }

    private static String oneLine(String text) {
        return text.strip().replace('\n', ' ');
    }
}
