package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.calls.CallTracker;
import io.nodekeeper.agent.calls.OpenCall;
import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.HangThresholds;
import io.nodekeeper.agent.culprit.diagnosis.ObservedProcess;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Signs that something may be wrong, as sets of texts that are equal while the same things are wrong. Pure. */
final class Signs {
    /** Ordinary commands end within a second; one older than 2 s makes scans more frequent. */
    static final Duration UNUSUAL = Duration.ofSeconds(2);

    private Signs() {}

    /** The calls that are late or fail; {@code version} is the newest outcome of the question for the version. */
    static Set<String> ofCalls(CallTracker calls, Optional<CallOutcome> version, long now) {
        Set<String> signs = new HashSet<>();
        calls.overdue(HangThresholds.AGENT.call()).forEach(trouble -> signs.add("late " + trouble.call()));
        calls.open().stream().filter(open -> isLate(open, now)).forEach(open -> signs.add("late " + open.call()));
        calls.refused().stream()
                .filter(trouble -> trouble.tries() > 1)
                .forEach(trouble -> signs.add("refused " + trouble.call()));
        version.filter(outcome -> !outcome.answered()).ifPresent(outcome -> signs.add("version " + outcome.kind()));
        return signs;
    }

    /** The causes and the suspicious processes. */
    static Set<String> ofProcesses(List<Culprit> shown, List<ObservedProcess> seen) {
        Set<String> signs = new HashSet<>();
        shown.forEach(culprit -> signs.add(culprit.key()));
        seen.stream()
                .filter(Signs::isSuspicious)
                .map(ObservedProcess::info)
                .forEach(info -> signs.add(info.ref().identity() + " " + (info.isHalted() ? info.state() : ' ')));
        return signs;
    }

    /** Whether an open call takes half of the time after which it counts as hung: then it is time to look deep. */
    static boolean isLate(OpenCall open, long now) {
        return now - open.startedAt()
                >= HangThresholds.AGENT.of(open.call()).dividedBy(2).toNanos();
    }

    /** Whether a process may be the cause of a hang. */
    static boolean isSuspicious(ObservedProcess process) {
        ProcessInfo info = process.info();
        // A container may stop its own processes, and a busy disk delays all processes for a moment.
        return info.isHalted() && (info.role() == ProcessRole.RUNTIME || info.role() == ProcessRole.SHIM)
                || !process.stuck().isEmpty()
                || (info.role() == ProcessRole.CNI_PLUGIN || info.role() == ProcessRole.OCI_RUNTIME)
                        && info.age().compareTo(UNUSUAL) > 0;
    }
}
