package io.nodekeeper.agent.config;

import io.nodekeeper.agent.config.file.ConfigFields;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.time.GoDuration;
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

    /** Reads {@code imageGCHighThresholdPercent}, {@code imageGCLowThresholdPercent}, and the minimum and maximum age. */
    static ImageGcConfig read(ConfigFields fields) {
        int high = percent(fields, "imageGCHighThresholdPercent", DEFAULT.highThresholdPercent);
        int low = percent(fields, "imageGCLowThresholdPercent", DEFAULT.lowThresholdPercent);
        Duration least = age(fields, "imageMinimumGCAge", DEFAULT.minimumAge);
        Duration most = age(fields, "imageMaximumGCAge", DEFAULT.maximumAge);
        if (low >= high) {
            fields.fault("imageGCLowThresholdPercent must be less than imageGCHighThresholdPercent, which is " + high
                    + ", got " + low);
        }
        if (!most.isZero() && most.compareTo(least) <= 0) {
            fields.fault("imageMaximumGCAge must be 0, or greater than imageMinimumGCAge, which is "
                    + GoDuration.format(least) + ", got " + GoDuration.format(most));
        }
        return new ImageGcConfig(high, low, least, most);
    }

    private static int percent(ConfigFields fields, String field, int usual) {
        return fields.whole(field, "a percentage from 0 to 100", 0, 100).orElse(usual);
    }

    private static Duration age(ConfigFields fields, String field, Duration usual) {
        return fields.duration(field, "a duration of 0s or more", age -> !age.isNegative())
                .orElse(usual);
    }

    /** How many bytes more must be free for the low threshold; 0 or less if enough are. */
    public long missing(Level level) {
        return level.capacity() * (100 - lowThresholdPercent) / 100 - level.available();
    }
}
