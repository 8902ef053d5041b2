package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.stats.cgroups.BoundedFile;
import io.nodekeeper.agent.stats.cgroups.KernelNumbers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads the network interfaces of pods by a process of theirs, without a question to the container runtime. Immutable.
 *
 * @param root {@code /}, or a copy of the kernel's files for tests
 */
record PodNetworks(Path root) {
    /**
     * The interfaces that the processes in {@code cgroup} see; none if there is no process, or if it has the network of the node,
     * whose numbers are not the pod's. Blocks.
     *
     * @param node the network of the node, {@link #ofNode}
     */
    List<NodeUsage.Network> of(Path cgroup, Optional<String> node) throws IOException {
        Optional<Path> process = process(cgroup);
        if (process.isEmpty()) {
            return List.of();
        }
        Optional<String> own = namespace(process.get());
        if (own.isEmpty() || own.equals(node)) {
            return List.of();
        }
        return ProcText.networks(
                BoundedFile.beginning(process.get().resolve("net/dev")).orElse(""));
    }

    /** The network namespace of this process, and so of the node. */
    Optional<String> ofNode() {
        return namespace(root.resolve("proc/self"));
    }

    /** The directory of the first process. */
    private Optional<Path> process(Path cgroup) throws IOException {
        Optional<String> processes = BoundedFile.beginning(cgroup.resolve("cgroup.procs"));
        OptionalLong pid = processes
                .flatMap(text -> text.lines().findFirst())
                .map(KernelNumbers::number)
                .orElse(OptionalLong.empty());
        // 0 is a process that this one does not see.
        return pid.isPresent() && pid.getAsLong() > 0
                ? Optional.of(root.resolve("proc").resolve(Long.toString(pid.getAsLong())))
                : Optional.empty();
    }

    /** Empty if the process has ended. */
    private static Optional<String> namespace(Path process) {
        try {
            return Optional.of(Files.readSymbolicLink(process.resolve("ns/net")).toString());
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
