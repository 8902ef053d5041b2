package io.nodekeeper.agent.pods.cgroups;

import io.nodekeeper.agent.status.ResourceList;
import io.nodekeeper.api.Quantity;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** The kernel's words for sizes of huge pages, by which cgroups and runtimes name them. Stateless. */
public final class HugePages {
    private static final long UNIT = 1_024;
    private static final String[] WORDS = {"B", "KB", "MB", "GB", "TB"};

    private HugePages() {}

    /** The size of the pages of {@code resource}: {@code 2MB} for {@code hugepages-2Mi}; empty if it is no such resource. */
    public static Optional<String> size(String resource) {
        OptionalLong bytes = ResourceList.hugePageBytes(resource);
        return bytes.isPresent() ? Optional.of(words(bytes.getAsLong())) : Optional.empty();
    }

    private static String words(long bytes) {
        long number = bytes;
        int unit = 0;
        while (number >= UNIT && number % UNIT == 0 && unit < WORDS.length - 1) {
            number /= UNIT;
            unit++;
        }
        return number + WORDS[unit];
    }

    /** Bytes by the size of pages, of those of {@code resources} that are huge pages. */
    public static Map<String, Long> limits(Map<String, Quantity> resources) {
        Map<String, Long> limits = new TreeMap<>();
        resources.forEach((resource, amount) -> size(resource).ifPresent(size -> limits.put(size, amount.toLong())));
        return limits;
    }
}
