package io.nodekeeper.agent.facts;

import java.util.Map;

/**
 * What the machine is; it does not change while the agent runs.
 *
 * @param cores logical processors
 * @param memoryBytes MemTotal
 * @param swapBytes SwapTotal; 0 without swap
 * @param hugePages page size in bytes → pages reserved, sizes with none included
 * @param machineId {@code /etc/machine-id}
 * @param systemUuid the firmware's UUID
 * @param bootId a new one each boot
 * @param kernelVersion the kernel's release
 * @param osImage the distribution's name for people
 * @param architecture in Go's naming, as {@code amd64}
 */
public record MachineInfo(
        int cores,
        long memoryBytes,
        long swapBytes,
        Map<Long, Long> hugePages,
        String machineId,
        String systemUuid,
        String bootId,
        String kernelVersion,
        String osImage,
        String architecture) {

    /** Copies {@code hugePages}. */
    public MachineInfo {
        hugePages = Map.copyOf(hugePages);
    }
}
