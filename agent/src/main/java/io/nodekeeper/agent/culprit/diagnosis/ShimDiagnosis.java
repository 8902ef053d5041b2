package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.api.KubeTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Finds shims whose sandboxes the runtime does not list: left by sandboxes that are gone, or those of another runtime
 * than the one that listens on the socket. Pure.
 */
final class ShimDiagnosis {
    /**
     * The age from which a shim that is not listed is an orphan: the runtime lists a sandbox only once it is created,
     * and the kubelet gives up its creation after 4 min.
     */
    private static final Duration ORPHANED = Duration.ofMinutes(5);
    /** The most shims to name as evidence. */
    private static final int NAMED = 8;

    private ShimDiagnosis() {}

    /** The culprit, if any. */
    static Optional<Finding> of(DiagnosisInput facts, HangThresholds patience, ProcessIndex index) {
        if (facts.unlisted().sandboxes().isEmpty()
                || facts.answers().stream()
                        .anyMatch(answer ->
                                answer.kind() == CallOutcome.Kind.LATE || answer.kind() == CallOutcome.Kind.UNREACHABLE)
                || facts.processes().stream().anyMatch(ProcessIndex::isCommand)) {
            // A sandbox may be in the course of being created or removed.
            return Optional.empty();
        }
        List<ObservedProcess> shims = facts.processes().stream()
                .filter(process -> process.isPodShim() && process.info().age().compareTo(patience.unlisted()) >= 0)
                .toList();
        List<ObservedProcess> unlisted = shims.stream()
                .filter(shim -> !shim.info().ids().isEmpty()
                        && shim.info().ids().stream()
                                .allMatch(id -> facts.workload().sandbox(id).isEmpty()
                                        && facts.unlisted().lacks(id, patience.stopped())))
                .toList();
        boolean all = unlisted.size() == shims.size()
                && facts.workload().ids().isEmpty()
                && facts.unlisted().everything().isPresent();
        if (!all) {
            // The shim of a removed sandbox ends within a second, on a busy node later.
            unlisted = unlisted.stream()
                    .filter(shim -> shim.info().age().compareTo(ORPHANED) >= 0
                            && shim.info().ids().stream()
                                    .allMatch(id -> facts.unlisted().lacks(id, patience.zombie())))
                    .toList();
        }
        if (unlisted.isEmpty()) {
            return Optional.empty();
        }
        ObservedProcess first = unlisted.getFirst();
        Instant since = facts.ago(first.info().age());
        List<String> evidence = unlisted.stream()
                .limit(NAMED)
                .map(shim -> ProcessIndex.describe(shim.info()))
                .toList();
        Culprit culprit = all
                ? Culprit.of(
                        Layer.RUNTIME,
                        "RuntimeMismatch",
                        "the container runtime at " + facts.socket() + " lists no sandbox, but " + unlisted.size()
                                + " shims of sandboxes run here: they belong to another runtime or another state directory",
                        since,
                        new Remedy.Advice("start the container runtime with the configuration (root, state) with which"
                                + " these shims were started, or drain and reboot the node"))
                : Culprit.of(
                        Layer.SHIM,
                        "ShimOrphaned",
                        "the shim " + ProcessIndex.name(first.info()) + " serves sandbox "
                                + Subject.brief(first.info().ids().getFirst()) + ", started " + KubeTime.format(since)
                                + ", which the container runtime does not list"
                                + (unlisted.size() > 1 ? "; and " + (unlisted.size() - 1) + " more such shims" : ""),
                        since,
                        new Remedy.Advice("look at the runtime's log for the sandbox; then end the shim: kill "
                                + first.info().ref().pid()));
        return Optional.of(Finding.of(
                culprit.by(first.info().ref()).shownBy(evidence).sure(Confidence.LIKELY), index.subject(first)));
    }
}
