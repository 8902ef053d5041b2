package io.nodekeeper.agent.culprit.repair;

import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.repair.RepairStep.Decision;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The remedies of all culprits, in order, and which of them may be applied. Immutable, pure.
 *
 * <p>The rules: the remedies of a culprit are tried from the mildest on. A remedy is applied only if every milder one
 * of the same culprit can be applied before it. What needs {@code --force} is applied only with it, and only while no
 * culprit has a milder remedy left. All remedies together end at most one pod.
 *
 * @param steps culprit by culprit, causes before effects, the mildest remedy of each first
 * @param force whether {@code --force} was given
 */
public record RepairPlan(List<RepairStep> steps, boolean force) {

    /** The plan for what {@code findings} show. */
    public static RepairPlan of(Findings findings, boolean force) {
        return of(findings, force, List.of());
    }

    /** The same without what was already tried. */
    private static RepairPlan of(Findings findings, boolean force, List<RepairStep> tried) {
        Guard guard = new Guard(findings);
        List<RepairStep> steps = new ArrayList<>();
        for (Culprit culprit : findings.culprits()) {
            Optional<RepairStep> barrier = Optional.empty();
            for (Remedy whole : culprit.remedies()) {
                Optional<Remedy> left = untried(culprit, whole, tried);
                if (left.isEmpty()) {
                    continue;
                }
                for (RepairStep step : steps(guard, culprit, left.get(), force)) {
                    steps.add(barrier.isPresent() ? behind(barrier.get(), step) : step);
                    if (barrier.isEmpty() && !step.applies()) {
                        barrier = Optional.of(step);
                    }
                }
            }
        }
        return new RepairPlan(oneSandbox(guard, steps), force);
    }

    /** The steps of one remedy: what needs no force comes first. */
    private static List<RepairStep> steps(Guard guard, Culprit culprit, Remedy remedy, boolean force) {
        if (remedy instanceof Remedy.Advice) {
            return List.of(new RepairStep(culprit, remedy, Decision.OPERATOR, false, ""));
        }
        Guard.Permit mild = guard.permit(culprit, remedy, false);
        Guard.Permit all = guard.permit(culprit, remedy, true);
        if (all.remedy().isEmpty()) {
            return List.of(new RepairStep(culprit, remedy, Decision.REFUSED, remedy.needsForce(), all.why()));
        }
        List<RepairStep> steps = new ArrayList<>();
        mild.remedy().ifPresent(part -> steps.add(new RepairStep(culprit, part, Decision.APPLY, false, all.why())));
        Optional<Remedy> rest = mild.remedy().isEmpty()
                ? all.remedy()
                : without(all.remedy().get(), mild.remedy().get());
        rest.ifPresent(part -> steps.add(new RepairStep(
                culprit, part, force ? Decision.APPLY : Decision.NEEDS_FORCE, true, force ? all.why() : mild.why())));
        return steps;
    }

    /** A step that comes after one that is not applied: it never comes before a milder one was tried. */
    private static RepairStep behind(RepairStep barrier, RepairStep step) {
        return step.decision() == Decision.OPERATOR
                ? step
                : new RepairStep(
                        step.culprit(),
                        step.remedy(),
                        barrier.decision(),
                        step.needsForce(),
                        "only after the milder remedy: " + barrier.remedy().text());
    }

    /** The steps, without any that ends a pod's processes if together they would hit more than one pod. */
    private static List<RepairStep> oneSandbox(Guard guard, List<RepairStep> steps) {
        Set<String> pods = new LinkedHashSet<>();
        steps.stream().filter(step -> costsPod(guard, step)).forEach(step -> pods.add(pod(step)));
        if (pods.size() < 2) {
            return List.copyOf(steps);
        }
        return steps.stream()
                .map(step -> costsPod(guard, step)
                        ? new RepairStep(
                                step.culprit(),
                                step.remedy(),
                                Decision.REFUSED,
                                true,
                                "such remedies would hit " + pods.size()
                                        + " pods, which is more than one hung pod; restart the container runtime")
                        : step)
                .toList();
    }

    private static boolean costsPod(Guard guard, RepairStep step) {
        return step.applies()
                && guard.permit(step.culprit(), step.remedy(), true).costsPod();
    }

    private static String pod(RepairStep step) {
        return step.remedy() instanceof Remedy.RemoveSandbox(String id)
                ? id
                : step.culprit().sandboxId().orElseGet(step.remedy()::text);
    }

    /** Whether at least one step is applied. */
    public boolean applies() {
        return steps.stream().anyMatch(RepairStep::applies);
    }

    /**
     * The steps to take next: all that need no force; if there are none, the first one that does. Only steps that this
     * plan applies, for culprits that {@code now} still shows, and nothing that was tried.
     *
     * @param closed the keys of culprits for which nothing more is done
     */
    List<RepairStep> next(Findings now, List<RepairStep> tried, Set<String> closed) {
        List<RepairStep> candidates = new ArrayList<>();
        Set<String> seen = new LinkedHashSet<>(closed);
        for (RepairStep first : of(now, force, tried).steps) {
            if (seen.add(first.culprit().key()) && first.applies()) {
                approved(first).ifPresent(candidates::add);
            }
        }
        List<RepairStep> mild =
                candidates.stream().filter(step -> !step.needsForce()).toList();
        return mild.isEmpty() ? candidates.stream().limit(1).toList() : mild;
    }

    /** The part of {@code step} that {@code now} still permits as the next one for its culprit. */
    Optional<RepairStep> still(RepairStep step, Findings now, List<RepairStep> triedBefore) {
        return of(now, force, triedBefore).steps.stream()
                .filter(fresh -> fresh.culprit().key().equals(step.culprit().key()))
                .findFirst()
                .flatMap(fresh -> common(step, fresh));
    }

    /** The part of a new step that this plan contains. */
    private Optional<RepairStep> approved(RepairStep fresh) {
        return steps.stream()
                .filter(step -> step.applies()
                        && step.culprit().key().equals(fresh.culprit().key()))
                .flatMap(step -> common(step, fresh).stream())
                .findFirst();
    }

    /** What an approved and a new step have in common; empty if the new one may not be applied. */
    private static Optional<RepairStep> common(RepairStep approved, RepairStep fresh) {
        Optional<Remedy> common = without(fresh.remedy(), approved.remedy())
                .map(other -> without(fresh.remedy(), other))
                .orElseGet(() -> Optional.of(fresh.remedy()));
        return common.filter(part -> fresh.applies())
                .filter(part -> !fresh.needsForce() || approved.needsForce())
                .map(part -> new RepairStep(fresh.culprit(), part, Decision.APPLY, fresh.needsForce(), fresh.why()));
    }

    /** What is left of a remedy; empty if all of it was tried. */
    private static Optional<Remedy> untried(Culprit culprit, Remedy remedy, List<RepairStep> tried) {
        Optional<Remedy> left = Optional.of(remedy);
        for (RepairStep step : tried) {
            if (step.culprit().key().equals(culprit.key()) || !(remedy instanceof Remedy.KillProcesses)) {
                left = left.flatMap(some -> without(some, step.remedy()));
            }
        }
        return left;
    }

    /** A remedy without another: of two lists of processes, the difference; else empty if both are equal. */
    private static Optional<Remedy> without(Remedy remedy, Remedy other) {
        if (remedy instanceof Remedy.KillProcesses(List<ProcessRef> all)
                && other instanceof Remedy.KillProcesses(List<ProcessRef> part)) {
            List<ProcessRef> rest =
                    all.stream().filter(process -> !part.contains(process)).toList();
            return rest.isEmpty() ? Optional.empty() : Optional.of(new Remedy.KillProcesses(rest));
        }
        return remedy.equals(other) ? Optional.empty() : Optional.of(remedy);
    }
}
