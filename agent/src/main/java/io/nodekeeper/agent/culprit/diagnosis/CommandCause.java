package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.evidence.WaitGraph;
import io.nodekeeper.agent.culprit.evidence.WaitGraph.Entity;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.api.KubeTime;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Makes a culprit of a CNI plugin or OCI runtime command that runs for too long, and nothing else explains it: the
 * lowest of its descendants for which it verifiably waits, or else itself. Pure.
 */
final class CommandCause {
    private final DiagnosisInput facts;
    private final HangThresholds patience;
    private final ProcessIndex index;

    CommandCause(DiagnosisInput facts, HangThresholds patience, ProcessIndex index) {
        this.facts = facts;
        this.patience = patience;
        this.index = index;
    }

    /** The culprit; {@code chains} are the ways from {@code command} to the roots of the graph. */
    Culprit of(ObservedProcess command, List<WaitGraph.Chain> chains) {
        Optional<WaitGraph.Chain> lowest = chains.stream()
                .filter(chain -> !chain.circular()
                        && chain.steps().stream().allMatch(WaitGraph.Edge::fact)
                        && root(chain).filter(root -> isBelow(root, command)).isPresent())
                .max(Comparator.comparingInt(chain -> chain.steps().size()));
        Culprit culprit = lowest.flatMap(CommandCause.this::root)
                .map(child -> child(child, command).shownBy(lowest.get().texts()))
                .orElseGet(() -> command(command));
        // Other ends that cannot be seen may explain it.
        List<String> unseen = chains.stream()
                .filter(chain -> chain.root() instanceof Entity.Socket)
                .flatMap(chain -> chain.texts().stream())
                .distinct()
                .toList();
        return culprit.about(index.subject(command)).shownBy(unseen).sure(Confidence.LIKELY);
    }

    /**
     * The culprit while no scan has searched to the end what a late command and its descendants wait for: they may all
     * wait for something else, so nothing is said about whose fault it is, and nothing is ended.
     */
    Culprit unexplained(ObservedProcess command) {
        ProcessInfo info = command.info();
        Instant since = facts.ago(info.age());
        return Culprit.of(
                        info.role() == ProcessRole.CNI_PLUGIN ? Layer.CNI_PLUGIN : Layer.OCI_RUNTIME,
                        "CommandUnexplained",
                        named(command) + " has not ended since " + KubeTime.format(since)
                                + "; it is not known what it waits for, because the scans end before they have searched"
                                + " everything",
                        since,
                        new Remedy.Advice("look at what it waits for: nodekeeper doctor, or cat /proc/"
                                + info.ref().pid() + "/wchan and /proc/"
                                + info.ref().pid() + "/stack"))
                .about(index.subject(command))
                .by(info.ref())
                .shownBy(List.of(ProcessIndex.describe(info)))
                .sure(Confidence.UNKNOWN);
    }

    private Optional<ObservedProcess> root(WaitGraph.Chain chain) {
        return chain.root() instanceof Entity.Pid(int pid) ? index.of(pid) : Optional.empty();
    }

    private boolean isBelow(ObservedProcess process, ObservedProcess command) {
        return process != command && index.tree(command).contains(process);
    }

    private Culprit command(ObservedProcess process) {
        ProcessInfo info = process.info();
        Instant since = facts.ago(info.age());
        return culprit(process, named(process) + " has not ended since " + KubeTime.format(since), process);
    }

    private Culprit child(ObservedProcess child, ObservedProcess command) {
        Instant since = facts.ago(child.info().age());
        return culprit(
                child,
                ProcessIndex.name(child.info()) + ", which was started for " + named(command) + ", has not ended since "
                        + KubeTime.format(since),
                command);
    }

    private Culprit culprit(ObservedProcess accused, String summary, ObservedProcess command) {
        boolean cni = command.info().role() == ProcessRole.CNI_PLUGIN;
        return Culprit.of(
                        cni ? Layer.CNI_PLUGIN : Layer.OCI_RUNTIME,
                        cni ? "CNIPluginHung" : "OCIRuntimeHung",
                        summary,
                        facts.ago(accused.info().age()),
                        new Remedy.KillProcesses(
                                index.lasting(accused, patience.command().dividedBy(2))))
                .by(accused.info().ref())
                .shownBy(List.of(ProcessIndex.describe(accused.info())));
    }

    private String named(ObservedProcess command) {
        ProcessInfo info = command.info();
        String verb = info.verb().isEmpty() ? "" : " " + info.verb();
        String name = ProcessIndex.name(info);
        return (info.role() == ProcessRole.CNI_PLUGIN
                        ? "the CNI plugin " + name + verb
                        : "the OCI runtime's" + verb + " " + name)
                + " for " + index.subject(command).text();
    }
}
