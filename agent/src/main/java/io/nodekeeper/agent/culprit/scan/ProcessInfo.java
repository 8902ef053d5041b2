package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.load.Work;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A process of the runtime as one scan saw it. Immutable.
 *
 * @param parent the parent's pid
 * @param state the kernel's letter: R, S, D, T, Z and so on
 * @param age since it was started
 * @param own whether it certainly belongs to this runtime; a CNI plugin whose runtime died may belong to another one
 * @param verb the command of a CNI plugin or OCI runtime, such as {@code ADD} or {@code create}; else empty
 * @param ids candidates for the sandbox or container that it works on, the likeliest first; empty if it names none
 * @param pod the pod as the process itself names it
 * @param stalls its threads in uninterruptible sleep, as far as they were examined
 * @param cpu of the runtime's cgroup; empty for others and without a separate cgroup
 * @param waits what it waits for, as far as it was examined
 * @param limits the limits that it has reached, as far as they were examined
 * @param work what it got from the processors; empty if it was not examined
 * @param commands the commands that a runtime has open in each container, those included that have yet to begin; as far as they
 *     were examined
 * @param examined whether what it waits for was searched to the end: a scan searches only if something may be late, and its
 *     searches have a budget
 */
public record ProcessInfo(
        ProcessRef ref,
        int parent,
        char state,
        Duration age,
        ProcessRole role,
        boolean own,
        String verb,
        List<String> ids,
        Optional<PodIdentity> pod,
        List<Stall> stalls,
        Optional<CpuPeriods> cpu,
        List<Wait> waits,
        List<Limit> limits,
        Optional<Work> work,
        Map<String, Integer> commands,
        boolean examined) {

    public ProcessInfo {
        commands = Map.copyOf(commands);
    }

    /** A process that waits for nothing and has reached no limit; its work is not known. */
    public ProcessInfo(
            ProcessRef ref,
            int parent,
            char state,
            Duration age,
            ProcessRole role,
            boolean own,
            String verb,
            List<String> ids,
            Optional<PodIdentity> pod,
            List<Stall> stalls,
            Optional<CpuPeriods> cpu) {
        this(
                ref,
                parent,
                state,
                age,
                role,
                own,
                verb,
                ids,
                pod,
                stalls,
                cpu,
                List.of(),
                List.of(),
                Optional.empty(),
                Map.of(),
                true);
    }

    /** Whether it is stopped or held by a tracer. */
    public boolean isHalted() {
        return isHalted(state);
    }

    /** Whether the kernel's letter stands for a process that is stopped or held by a tracer. */
    static boolean isHalted(char state) {
        return state == 'T' || state == 't';
    }

    /** The same with waits. */
    public ProcessInfo waitingFor(List<Wait> found) {
        return new ProcessInfo(
                ref, parent, state, age, role, own, verb, ids, pod, stalls, cpu, found, limits, work, commands,
                examined);
    }

    /** The same with limits. */
    public ProcessInfo at(List<Limit> reached) {
        return new ProcessInfo(
                ref, parent, state, age, role, own, verb, ids, pod, stalls, cpu, waits, reached, work, commands,
                examined);
    }

    /** The same with its work. */
    public ProcessInfo worked(Work got) {
        return new ProcessInfo(
                ref,
                parent,
                state,
                age,
                role,
                own,
                verb,
                ids,
                pod,
                stalls,
                cpu,
                waits,
                limits,
                Optional.of(got),
                commands,
                examined);
    }

    /** The same with open commands. */
    public ProcessInfo commanding(Map<String, Integer> open) {
        return new ProcessInfo(
                ref, parent, state, age, role, own, verb, ids, pod, stalls, cpu, waits, limits, work, open, examined);
    }

    /** The same, examined to the end or not. */
    public ProcessInfo examined(boolean complete) {
        return new ProcessInfo(
                ref, parent, state, age, role, own, verb, ids, pod, stalls, cpu, waits, limits, work, commands,
                complete);
    }
}
