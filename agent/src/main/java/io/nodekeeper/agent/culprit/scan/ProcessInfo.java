package io.nodekeeper.agent.culprit.scan;

import java.time.Duration;
import java.util.List;
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
        Optional<CpuPeriods> cpu) {}
