package io.nodekeeper.agent.config;

import io.nodekeeper.agent.facts.Level;
import java.time.Duration;

/**
 * When images that nothing uses are removed. Immutable.
 *
 * @param highThresholdPercent of the images' file system in use, from which on they are removed (85); 100 for never
 * @param lowThresholdPercent until not more than that is in use (80)
 * @param minimumAge how long an image stays at least (2 min)
 * @param maximumAge after which an image that was not used goes in any case; 0 for never (0)
 */
public record ImageGcConfig(
        int highThresholdPercent, int lowThresholdPercent, Duration minimumAge, Duration maximumAge) {
    /** The kubelet's defaults. */
    public static final ImageGcConfig DEFAULT = new ImageGcConfig(85, 80, Duration.ofMinutes(2), Duration.ZERO);

    /** How many bytes more must be free for the low threshold; 0 or less if enough are. */
    public long missing(Level level) {
        return level.capacity() * (100 - lowThresholdPercent) / 100 - level.available();
    }
}
