package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The evidence for a hang that nothing explains: what was examined, and what an operator can do next. Pure. */
final class Examined {
    /** The most processes to name: runtime, shim, commands and some processes of a pod. */
    private static final int NAMED = 8;

    private Examined() {}

    /** Two lines: which processes were examined, and the next step. */
    static List<String> of(Subject subject, DiagnosisInput facts, ProcessIndex index) {
        List<ObservedProcess> examined = facts.processes().stream()
                .filter(process -> process.info().role() == ProcessRole.RUNTIME
                        || ProcessIndex.isCommand(process)
                        || !subject.isNode() && index.subject(process).samePod(subject))
                .toList();
        List<String> lines = new ArrayList<>();
        lines.add(
                examined.isEmpty()
                        ? "examined: no process of the runtime can be seen"
                        : "examined: "
                                + examined.stream()
                                        .limit(NAMED)
                                        .map(process -> name(process.info()))
                                        .collect(Collectors.joining(", "))
                                + (examined.size() > NAMED ? " and " + (examined.size() - NAMED) + " more" : "")
                                + "; none of them is stopped, traced, frozen or waits for a lock, pipe, socket or disk"
                                + " as far as the kernel shows");
        lines.add("next: "
                + index.server()
                        .map(runtime -> "kill -USR1 " + runtime.info().ref().pid() + " makes "
                                + ProcessIndex.program(runtime.info())
                                + " write its goroutines to its log; look there for ")
                        .orElse("look in the runtime's log for ")
                + (subject.isNode() ? "calls that wait" : subject.text()));
        return lines;
    }

    private static String name(ProcessInfo info) {
        return ProcessIndex.name(info) + " in state " + info.state();
    }
}
