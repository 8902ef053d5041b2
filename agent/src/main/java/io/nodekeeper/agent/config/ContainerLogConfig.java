package io.nodekeeper.agent.config;

import io.nodekeeper.agent.config.file.ConfigFields;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonString;
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

    private static final Duration SHORTEST_INTERVAL = Duration.ofSeconds(3);

    /** Reads {@code containerLogMaxSize}, {@code containerLogMaxFiles} and {@code containerLogMonitorInterval}. */
    static ContainerLogConfig read(ConfigFields fields) {
        long size = fields.take(
                        "containerLogMaxSize",
                        "a quantity of bytes of more than 0, like 10Mi",
                        value -> Quantity.from(new JsonString(String.valueOf(value)))
                                .map(Quantity::toLong)
                                .filter(bytes -> bytes > 0))
                .orElse(DEFAULT.maxSize);
        int files = fields.whole("containerLogMaxFiles", "a number of at least 2", 2, Integer.MAX_VALUE)
                .orElse(DEFAULT.maxFiles);
        Duration interval = fields.duration(
                        "containerLogMonitorInterval",
                        "a duration of 3s or more",
                        set -> set.compareTo(SHORTEST_INTERVAL) >= 0)
                .orElse(DEFAULT.monitorInterval);
        return new ContainerLogConfig(size, files, interval);
    }
}
