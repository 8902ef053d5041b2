package io.nodekeeper.agent.pods.cpus;

import io.nodekeeper.agent.checkpoint.CheckpointFile;
import io.nodekeeper.agent.config.CpuConfig;
import io.nodekeeper.agent.facts.CpuSet;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The kubelet's file {@code cpu_manager_state}: its checks at the start of the agent. Stateless. */
public final class CpuStateFile {
    static final String STATIC = "static";
    private static final String NAME = "cpu_manager_state";

    private CpuStateFile() {}

    /**
     * Reads the file below {@code rootDir}, or makes it. Blocks.
     *
     * @param machine {@code /}, or a copy of the kernel's files for tests
     * @param reservedAmount the processor time that pods may not use, from which the number of reserved processors follows
     * @param faults receives why the agent cannot start with this file or configuration
     * @return what gives processors to containers; empty if the policy is {@code none}, or with a fault
     */
    public static Optional<CpuManager> open(
            Path rootDir,
            Path machine,
            CpuConfig config,
            Quantity reservedAmount,
            BlockingCalls disk,
            Loop loop,
            List<String> faults) {
        Path file = rootDir.resolve(NAME);
        try {
            Optional<CpuState> earlier = CheckpointFile.read(file).map(CpuState::read);
            Optional<String> other = earlier.map(CpuState::policy).filter(name -> !name.equals(config.policy()));
            if (other.isPresent()) {
                throw new IllegalArgumentException("configured policy \"" + config.policy()
                        + "\" differs from state checkpoint policy \"" + other.get() + "\"");
            }
            if (!config.exclusive()) {
                if (earlier.isEmpty()) {
                    CheckpointFile.write(file, new CpuState(config.policy(), CpuSet.EMPTY, Map.of()).json());
                }
                return Optional.empty();
            }
            return open(file, machine, earlier, config.reserved(), reservedAmount, disk, loop, faults);
        } catch (IOException | IllegalArgumentException e) {
            faults.add("could not restore state from checkpoint: " + e.getMessage()
                    + ", please drain this node and delete the CPU manager checkpoint file \"" + file
                    + "\" before restarting the agent");
            return Optional.empty();
        }
    }

    private static Optional<CpuManager> open(
            Path file,
            Path machine,
            Optional<CpuState> earlier,
            CpuSet listed,
            Quantity reservedAmount,
            BlockingCalls disk,
            Loop loop,
            List<String> faults)
            throws IOException {
        CpuTopology topology = CpuTopology.read(machine);
        CpuSet all = topology.all();
        if (!all.containsAll(listed)) {
            faults.add("reservedSystemCPUs: " + listed.minus(all) + " are not online; expected some of " + all);
            return Optional.empty();
        }
        // As in Kubernetes, a part of a processor reserves a whole one.
        int count = (int) Math.min((reservedAmount.toMillis() + 999) / 1_000, Integer.MAX_VALUE);
        if (listed.isEmpty() && (count < 1 || count > all.size())) {
            faults.add(
                    "cpuManagerPolicy static requires systemReserved.cpu + kubeReserved.cpu to be greater than zero and at"
                            + " most " + all.size() + ", or reservedSystemCPUs, got " + reservedAmount);
            return Optional.empty();
        }
        CpuSet reserved = listed.isEmpty() ? CpuChoice.take(topology, all, count) : listed;
        Optional<String> wrong = earlier.flatMap(state -> fault(state, all, reserved));
        if (wrong.isPresent()) {
            faults.add("cpuManagerPolicy static: invalid state, please drain node and remove policy state file \""
                    + file + "\": " + wrong.get());
            return Optional.empty();
        }
        CpuState state = earlier.orElseGet(() -> new CpuState(STATIC, all, Map.of()));
        if (earlier.isEmpty()) {
            CheckpointFile.write(file, state.json());
        }
        return Optional.of(new CpuManager(topology, reserved, state, file, disk, loop));
    }

    /** The kubelet's checks of a state. */
    private static Optional<String> fault(CpuState state, CpuSet all, CpuSet reserved) {
        CpuSet known = state.shared();
        if (!known.containsAll(reserved)) {
            return Optional.of(
                    "not all reserved cpus: \"" + reserved + "\" are present in defaultCpuSet: \"" + known + "\"");
        }
        for (var pod : state.entries().entrySet()) {
            for (var container : pod.getValue().entrySet()) {
                if (state.shared().overlaps(container.getValue())) {
                    return Optional.of("pod: " + pod.getKey() + ", container: " + container.getKey() + " cpuset: \""
                            + container.getValue() + "\" overlaps with default cpuset \"" + state.shared() + "\"");
                }
                known = known.plus(container.getValue());
            }
        }
        return known.equals(all)
                ? Optional.empty()
                : Optional.of("current set of available CPUs \"" + all + "\" doesn't match with CPUs in state \""
                        + known + "\"");
    }
}
