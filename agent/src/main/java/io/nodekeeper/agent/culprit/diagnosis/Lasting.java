package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Wait;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which states of processes have lasted long enough to count. Healthy processes stop, freeze and wait for a moment, so
 * a state counts only after a time. But a process for which something is already late has shown that it lasts: then a
 * freezer or tracer counts at once, and other states as soon as two scans show them. So does a pipe that a late command
 * holds open: it is as old as the command. Otherwise a late command would be accused for a moment before its cause is, or
 * without the evidence. Immutable.
 */
final class Lasting {
    private final HangThresholds patience;
    /** The pids for which something is late; at most all processes of the scan. */
    private final Set<Integer> pressing = new HashSet<>();
    /** The pids of the commands that are late. */
    private final Set<Integer> commands = new HashSet<>();

    Lasting(DiagnosisInput facts, HangThresholds patience, ProcessIndex index) {
        this.patience = patience;
        for (ObservedProcess process : facts.processes()) {
            if (isLateCommand(process, patience)) {
                commands.add(process.info().ref().pid());
                index.tree(process).forEach(this::press);
            }
        }
        for (CallOutcome answer : facts.answers()) {
            if (answer.kind() == CallOutcome.Kind.LATE && answer.took().compareTo(patience.call()) >= 0) {
                Subject subject = Subject.of(answer.call(), facts.workload());
                facts.processes().stream()
                        .filter(process -> serves(process, subject, index))
                        .forEach(this::press);
            }
        }
        if (!pressing.isEmpty()) {
            // A scan shows processes outside of the runtime only because others wait for them.
            facts.processes().stream()
                    .filter(process -> process.info().role() == ProcessRole.OUTSIDER)
                    .forEach(this::press);
        }
    }

    /** Whether it is a command of the runtime that has not ended for so long that its age shows that it hangs. */
    static boolean isLateCommand(ObservedProcess process, HangThresholds patience) {
        return ProcessIndex.isCommand(process)
                && process.info().state() != 'Z'
                && process.info().age().compareTo(patience.command()) >= 0;
    }

    /** Whether a process has been stopped for long enough. */
    boolean isStopped(ObservedProcess process) {
        return process.stopped().filter(age -> counts(process, age)).isPresent();
    }

    /** The tracer or freezer that holds a process. */
    Optional<Wait> held(ObservedProcess process) {
        return pressing(process)
                ? process.info().waits().stream().filter(Lasting::holds).findFirst()
                : process.held()
                        .filter(waiting -> counts(process, waiting.lasted()))
                        .map(ObservedProcess.Waiting::on);
    }

    /** What a process waits for. */
    List<Wait> waits(ObservedProcess process) {
        return process.waits().stream()
                .filter(waiting -> counts(process, waiting.lasted()) || isOfLateCommand(waiting.on()))
                .map(ObservedProcess.Waiting::on)
                .toList();
    }

    private boolean isOfLateCommand(Wait wait) {
        return wait instanceof Wait.ForPipe && wait.holders().stream().anyMatch(commands::contains);
    }

    private boolean counts(ObservedProcess process, Duration lasted) {
        return pressing(process) || lasted.compareTo(patience.stopped()) >= 0;
    }

    private boolean pressing(ObservedProcess process) {
        return pressing.contains(process.info().ref().pid());
    }

    private void press(ObservedProcess process) {
        pressing.add(process.info().ref().pid());
    }

    private static boolean serves(ObservedProcess process, Subject subject, ProcessIndex index) {
        return switch (process.info().role()) {
            case RUNTIME -> subject.isNode();
            case SHIM -> !subject.isNode() && index.subject(process).samePod(subject);
            case OCI_RUNTIME, CNI_PLUGIN, CONTAINER, HELPER, OUTSIDER -> false;
        };
    }

    private static boolean holds(Wait wait) {
        return wait instanceof Wait.Traced || wait instanceof Wait.Frozen;
    }
}
