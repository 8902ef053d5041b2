package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.scan.PodIdentity;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One thing that hangs, or a {@linkplain #isLoad load} that makes calls late, with the evidence for it and the remedy.
 * Immutable.
 *
 * @param reason in CamelCase, for conditions and events
 * @param summary one sentence that stays the same while the culprit does, without ages
 * @param since when it began, or was first seen, by the wall clock; for display only
 * @param method the call to the runtime that waits because of it, if one is known to
 * @param evidence observations, for messages
 * @param remedies the mildest first; at least one
 * @param confidence how sure the diagnosis is that this is the cause
 */
public record Culprit(
        Layer layer,
        String reason,
        String summary,
        Instant since,
        Optional<PodIdentity> pod,
        Optional<String> sandboxId,
        Optional<String> containerId,
        Optional<ProcessRef> process,
        Optional<String> method,
        List<String> evidence,
        List<Remedy> remedies,
        Confidence confidence) {

    private static final Set<String> LOAD = Set.of("RuntimeBusy", "NodeOverloaded", "CommandsQueued");
    private static final Set<String> UNANSWERED = Set.of("RuntimeHung", "RuntimeCallHung", "ContainerCallHung");

    public Culprit {
        remedies = List.copyOf(remedies);
        if (remedies.isEmpty()) {
            throw new IllegalArgumentException(reason + " has no remedy; expected at least one");
        }
    }

    /** A certain culprit of the node, with its remedies, the mildest first. */
    public static Culprit of(
            Layer layer, String reason, String summary, Instant since, Remedy mildest, Remedy... others) {
        return new Culprit(
                layer,
                reason,
                summary,
                since,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                Stream.concat(Stream.of(mildest), Stream.of(others)).toList(),
                Confidence.CERTAIN);
    }

    Culprit about(Subject subject) {
        return new Culprit(
                layer,
                reason,
                summary,
                since,
                subject.pod(),
                subject.sandboxId(),
                subject.containerId(),
                process,
                method,
                evidence,
                remedies,
                confidence);
    }

    Culprit by(ProcessRef ref) {
        return new Culprit(
                layer,
                reason,
                summary,
                since,
                pod,
                sandboxId,
                containerId,
                Optional.of(ref),
                method,
                evidence,
                remedies,
                confidence);
    }

    /** This culprit with the summary and the start time of an earlier scan: both must stay the same over scans. */
    public Culprit as(Culprit first) {
        return new Culprit(
                layer,
                reason,
                first.summary,
                first.since,
                pod,
                sandboxId,
                containerId,
                process,
                method,
                evidence,
                remedies,
                confidence);
    }

    Culprit delays(String call) {
        return new Culprit(
                layer,
                reason,
                summary,
                since,
                pod,
                sandboxId,
                containerId,
                process,
                method.or(() -> Optional.of(call)),
                evidence,
                remedies,
                confidence);
    }

    Culprit shownBy(List<String> more) {
        List<String> all = new ArrayList<>(evidence);
        all.addAll(more);
        return new Culprit(
                layer,
                reason,
                summary,
                since,
                pod,
                sandboxId,
                containerId,
                process,
                method,
                List.copyOf(all),
                remedies,
                confidence);
    }

    /** This culprit with another degree of confidence; without this, it is certain. */
    Culprit sure(Confidence degree) {
        return new Culprit(
                layer,
                reason,
                summary,
                since,
                pod,
                sandboxId,
                containerId,
                process,
                method,
                evidence,
                remedies,
                degree);
    }

    /** The mildest remedy. */
    public Remedy remedy() {
        return remedies.getFirst();
    }

    /** Whether there is no evidence of it without unanswered calls. */
    public boolean toldByCalls() {
        return isLoad() || isUnanswered();
    }

    /** Whether it says that calls are late because of load. That may explain them, and accuses nothing. */
    public boolean isLoad() {
        return LOAD.contains(reason);
    }

    /** Whether it says that calls are not answered, and nothing explains it. */
    public boolean isUnanswered() {
        return UNANSWERED.contains(reason);
    }

    /** The pod, sandbox and container that it is about. */
    public Subject subject() {
        return new Subject(pod, sandboxId, containerId);
    }

    /** Identifies the culprit: equal over all scans that show it. */
    public String key() {
        return reason + " "
                + process.map(ProcessRef::identity)
                        .or(() -> containerId)
                        .or(() -> sandboxId)
                        .or(() -> pod.map(PodIdentity::uid))
                        .or(() -> method)
                        .orElse("");
    }
}
