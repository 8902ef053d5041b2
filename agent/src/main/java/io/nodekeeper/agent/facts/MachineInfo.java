package io.nodekeeper.agent.facts;

import java.util.Map;

/**
 * Properties of the machine that do not change while the agent runs.
 *
 * @param cores logical processors
 * @param memoryBytes MemTotal
 * @param swapBytes SwapTotal; 0 without swap
 * @param hugePages page size in bytes → pages reserved, sizes with none included
 * @param machineId {@code /etc/machine-id}
 * @param systemUuid the firmware's UUID
 * @param bootId the kernel's id of this boot, new after each boot
 * @param kernelVersion the kernel's release
 * @param osImage the distribution's display name
 * @param architecture in Go's naming, such as {@code amd64}
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
