package io.nodekeeper.agent.pods.rotation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What is done with the rotated logs of a container before the next one joins them: the kubelet's rules and names, {@code
 * 0.log.TIME} and {@code 0.log.TIME.gz}. Immutable.
 *
 * @param remove names of files to remove
 * @param compress names of files to compress
 */
record RotationPlan(List<String> remove, List<String> compress) {
    /** The end of the name of a compressed log. */
    static final String COMPRESSED = ".gz";
    /** The end of the name of a file that is being written. */
    static final String UNFINISHED = ".tmp";

    /**
     * The plan for {@code rotated}, the names of all rotated logs and what is left of their compression.
     *
     * @param maxFiles the most files of the container: the log itself, the one that is rotated next, and those that stay
     */
    static RotationPlan of(List<String> rotated, int maxFiles) {
        Set<String> compressed = new HashSet<>(rotated);
        List<String> remove = new ArrayList<>();
        List<String> kept = new ArrayList<>();
        for (String name : rotated.stream().sorted().toList()) {
            // The compression was interrupted, or only the removal of what was compressed.
            boolean useless = name.endsWith(UNFINISHED) || compressed.contains(name + COMPRESSED);
            (useless ? remove : kept).add(name);
        }
        int excess = Math.max(0, kept.size() - (maxFiles - 2));
        remove.addAll(kept.subList(0, excess));
        List<String> compress = kept.subList(excess, kept.size()).stream()
                .filter(name -> !name.endsWith(COMPRESSED))
                .toList();
        return new RotationPlan(List.copyOf(remove), compress);
    }
}
