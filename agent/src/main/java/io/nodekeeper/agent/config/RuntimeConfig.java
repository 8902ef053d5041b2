package io.nodekeeper.agent.config;

import io.nodekeeper.cri.endpoint.DetectedRuntime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Options for the container runtime.
 *
 * @param endpoint {@code unix:///PATH} or {@code none}; empty if not set
 * @param requestTimeout the deadline of calls in the kubelet's own algorithm (2 min); the parallel algorithm has
 *     shorter ones
 * @param maxImages the most images in the status (50); -1 for all
 * @param networkProbeInterval from the end of a probe of the pod network to the next; zero for none (default)
 */
public record RuntimeConfig(
        Optional<String> endpoint, Duration requestTimeout, int maxImages, Duration networkProbeInterval) {
    /** The shortest interval: a probe costs a few processes and an address, and each of its steps may take 20 s. */
    public static final Duration LEAST_PROBE_INTERVAL = Duration.ofSeconds(10);

    private static final String SCHEME = "unix://";
    private static final String NONE = "none";

    /** The runtime's socket: the configured one, or {@code usual} if none is configured; empty for no runtime. */
    public Optional<Path> socket(Optional<Path> usual) {
        return endpoint.isEmpty()
                ? usual
                : endpoint.filter(text -> !text.equals(NONE)).map(text -> Path.of(text.substring(SCHEME.length())));
    }

    /** Whether the endpoint is one of Docker Engine, by its name. */
    public boolean isDocker() {
        return endpoint.filter(RuntimeConfig::isEndpoint)
                .flatMap(text -> socket(Optional.empty()))
                .filter(DetectedRuntime::isDocker)
                .isPresent();
    }

    /** Whether the pod network is probed. */
    public boolean probesNetwork() {
        return networkProbeInterval.isPositive();
    }

    /** Whether {@code endpoint} has one of the two forms. */
    public static boolean isEndpoint(String endpoint) {
        return endpoint.equals(NONE) || (endpoint.startsWith(SCHEME + "/") && endpoint.length() > SCHEME.length() + 1);
    }
}
