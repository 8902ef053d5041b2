package io.nodekeeper.agent.pods.garbage;

import io.nodekeeper.cri.Image;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * When each image of the node was first seen and last used, and so which one is removed first. An image that was there
 * before this agent counts as old and unused since ever, as with a kubelet. Times are monotonic ns. Not thread-safe.
 */
final class ImageRecords {
    /** By id; as many as the runtime listed images. */
    private final Map<String, Times> records = new HashMap<>();

    private boolean begun;

    /** What is known of an image: {@code NEVER}, or a time. */
    private record Times(Moment seen, Moment used) {}

    /** A time, or one before all others. */
    private record Moment(boolean known, long nanos) implements Comparable<Moment> {
        static final Moment NEVER = new Moment(false, 0);

        static Moment at(long nanos) {
            return new Moment(true, nanos);
        }

        /** Whether it is at least {@code age} ago. */
        boolean isOlder(Duration age, long now) {
            return !known || now - nanos >= age.toNanos();
        }

        @Override
        public int compareTo(Moment other) {
            return !known || !other.known ? Boolean.compare(known, other.known) : Long.signum(nanos - other.nanos);
        }
    }

    /** The runtime has these images; other ones are forgotten. */
    void listed(List<Image> images, long now) {
        Set<String> ids = images.stream().map(Image::id).collect(Collectors.toSet());
        records.keySet().retainAll(ids);
        Moment seen = begun ? Moment.at(now) : Moment.NEVER;
        ids.forEach(id -> records.putIfAbsent(id, new Times(seen, Moment.NEVER)));
        begun = true;
    }

    /** Images with these ids are in use. */
    void used(Collection<String> ids, long now) {
        ids.forEach(id -> records.computeIfPresent(id, (key, old) -> new Times(old.seen, Moment.at(now))));
    }

    /** The images of {@code unused} that have been on the node for {@code age}, the one that was not used for longest first. */
    List<Image> removable(List<Image> unused, Duration age, long now) {
        return unused.stream()
                .filter(image -> times(image).seen.isOlder(age, now))
                .sorted(Comparator.comparing((Image image) -> times(image).used)
                        .thenComparing(image -> times(image).seen))
                .toList();
    }

    /** Whether the image has not been used for {@code age}, nor since this agent began if that is longer ago. */
    boolean isUnusedFor(Image image, Duration age, long began, long now) {
        return now - began > age.toNanos() && times(image).used.isOlder(age, now);
    }

    private Times times(Image image) {
        return records.getOrDefault(image.id(), new Times(Moment.NEVER, Moment.NEVER));
    }
}
