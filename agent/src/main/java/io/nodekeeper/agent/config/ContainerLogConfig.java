package io.nodekeeper.agent.config;

import java.time.Duration;

/**
 * When logs of containers are rotated. Immutable.
 *
 * @param maxSize bytes from which on a log is rotated; more than 0 ({@code 10Mi})
 * @param maxFiles the most files of a container, at least 2 (5)
 * @param monitorInterval how often the sizes are looked at, at least 3 s (10 s)
 */
public record ContainerLogConfig(long maxSize, int maxFiles, Duration monitorInterval) {
    /** The kubelet's defaults. */
    public static final ContainerLogConfig DEFAULT = new ContainerLogConfig(10 << 20, 5, Duration.ofSeconds(10));
}
