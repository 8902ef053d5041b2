package io.nodekeeper.agent.stats.cgroups;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * How long tasks waited for one resource: the kernel's pressure stall information. Immutable.
 *
 * @param some at least one task waited
 * @param full all tasks that could run waited at the same time; the kernel has it for the processor since 5.13
 */
public record StallTimes(Share some, Optional<Share> full) {

    /**
     * A share of the time.
     *
     * @param avg10 percent of the last 10 s
     * @param avg60 percent of the last minute
     * @param avg300 percent of the last 5 min
     * @param totalMicros the sum since the boot, or since the cgroup was made, in µs
     */
    public record Share(double avg10, double avg60, double avg300, long totalMicros) {}

    /** Parses {@code memory.pressure} and the like; empty if the text has no complete line {@code some}. */
    public static Optional<StallTimes> parse(String text) {
        Map<String, Share> shares = new HashMap<>();
        text.lines().forEach(line -> {
            String[] words = line.strip().split(" ");
            share(words).ifPresent(share -> shares.put(words[0], share));
        });
        return Optional.ofNullable(shares.get("some"))
                .map(some -> new StallTimes(some, Optional.ofNullable(shares.get("full"))));
    }

    private static Optional<Share> share(String[] words) {
        OptionalDouble avg10 = percent(words, "avg10=");
        OptionalDouble avg60 = percent(words, "avg60=");
        OptionalDouble avg300 = percent(words, "avg300=");
        OptionalLong total = value(words, "total=").map(KernelNumbers::number).orElse(OptionalLong.empty());
        return avg10.isPresent() && avg60.isPresent() && avg300.isPresent() && total.isPresent()
                ? Optional.of(
                        new Share(avg10.getAsDouble(), avg60.getAsDouble(), avg300.getAsDouble(), total.getAsLong()))
                : Optional.empty();
    }

    /** The kernel writes two digits after the point. */
    private static OptionalDouble percent(String[] words, String name) {
        return value(words, name)
                .filter(text -> text.matches("\\d{1,3}\\.\\d{1,2}"))
                .map(text -> OptionalDouble.of(Double.parseDouble(text)))
                .orElse(OptionalDouble.empty());
    }

    private static Optional<String> value(String[] words, String name) {
        for (String word : words) {
            if (word.startsWith(name)) {
                return Optional.of(word.substring(name.length()));
            }
        }
        return Optional.empty();
    }
}
