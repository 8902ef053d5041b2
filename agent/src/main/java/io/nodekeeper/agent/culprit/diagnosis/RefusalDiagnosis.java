package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.api.KubeTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Makes culprits of calls that the runtime answers with errors. An error of the table is told as what it means; another
 * one is told as it is if the call is about the node as a whole. Errors that are ordinary, such as a container that has
 * just ended, are no faults. Pure.
 */
final class RefusalDiagnosis {
    /** The longest error that a message quotes, in characters; conditions and events are one line. */
    private static final int LONGEST = 300;
    /** The most calls that are named as evidence. */
    private static final int NAMED = 5;
    /**
     * Answers to calls about what does not exist (any more), to methods that this runtime does not have, and to calls
     * that were given up here.
     */
    private static final List<String> ORDINARY = List.of(
            ": not_found:",
            ": unimplemented:",
            ": cancelled:",
            "not found",
            "does not exist in",
            "invalid argument",
            "not implemented",
            "must be in running state",
            "already exists",
            "container is not running");

    private RefusalDiagnosis() {}

    /** The culprits, one for each cause. */
    static List<Finding> of(DiagnosisInput facts, HangThresholds patience) {
        Map<String, List<CallOutcome>> byReason = new LinkedHashMap<>();
        Map<String, Optional<RefusalCause>> causes = new LinkedHashMap<>();
        for (CallOutcome answer : facts.answers()) {
            if (answer.kind() != CallOutcome.Kind.REFUSED || answer.took().compareTo(patience.refused()) < 0) {
                continue;
            }
            Optional<RefusalCause> cause = RefusalCause.of(answer.error());
            boolean ordinary = isOrdinary(answer.error());
            Subject subject = Subject.of(answer.call(), facts.workload());
            if (cause.isEmpty() && (ordinary || !subject.isNode())
                    || cause.filter(known -> known == RefusalCause.IMAGE_STORE).isPresent()
                            && ordinary
                            && !subject.isNode()) {
                continue;
            }
            String reason = cause.map(RefusalCause::reason).orElse("RuntimeCallFails");
            byReason.computeIfAbsent(reason, key -> new ArrayList<>()).add(answer);
            causes.put(reason, cause);
        }
        List<Finding> findings = new ArrayList<>();
        byReason.forEach((reason, answers) ->
                findings.add(finding(reason, causes.getOrDefault(reason, Optional.empty()), answers, facts)));
        return findings;
    }

    private static Finding finding(
            String reason, Optional<RefusalCause> cause, List<CallOutcome> answers, DiagnosisInput facts) {
        CallOutcome first = answers.getFirst();
        Subject subject = Subject.of(first.call(), facts.workload());
        Instant since = facts.since(first);
        String call = first.call().method() + (subject.isNode() ? "" : " for " + subject.text());
        String meaning = cause.map(known -> ": " + known.meaning()).orElse("");
        List<String> evidence = answers.stream()
                .limit(NAMED)
                .map(answer -> answer.call().method() + " failed: " + shortened(answer.error()))
                .toList();
        // What cannot be read shows that another program may listen there, so it is named.
        Optional<ProcessInfo> listener = cause.filter(known -> known == RefusalCause.GARBAGE)
                .flatMap(known -> new ProcessIndex(facts).server())
                .map(ObservedProcess::info);
        String who = listener.map(info -> "; " + ProcessIndex.name(info) + " listens at its socket")
                .orElse("");
        Culprit culprit = Culprit.of(
                        cause.map(RefusalCause::layer).orElse(Layer.RUNTIME),
                        reason,
                        "the container runtime has answered " + call + " with an error since " + KubeTime.format(since)
                                + meaning + ": " + shortened(first.error()) + who,
                        since,
                        new Remedy.Advice(cause.map(RefusalCause::advice)
                                .orElse("look in the runtime's log for this error; if it stays, restart the runtime")))
                .about(subject)
                .delays(first.call().method())
                .shownBy(evidence)
                .sure(cause.map(RefusalCause::confidence).orElse(Confidence.LIKELY));
        return Finding.of(listener.map(ProcessInfo::ref).map(culprit::by).orElse(culprit), subject);
    }

    private static boolean isOrdinary(String error) {
        String lower = error.toLowerCase(Locale.ROOT);
        return ORDINARY.stream().anyMatch(lower::contains);
    }

    private static String shortened(String error) {
        return error.length() > LONGEST ? error.substring(0, LONGEST) + "…" : error;
    }
}
