package io.nodekeeper.client.events;

import io.nodekeeper.time.TokenBucket;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides how an event is written, so that a repeated event is one object with a count and a flood is limited: equal
 * events are counted; more than ten that differ only in their message are combined; events of one source about one
 * object beyond a burst are dropped. All numbers are client-go's. Its only state is bounded; not thread-safe.
 */
final class EventCorrelator {
    /** The most entries of each kind. */
    static final int REMEMBERED = 4_096;

    static final int SIMILAR = 10;
    static final Duration SIMILAR_WITHIN = Duration.ofSeconds(600);
    static final int BURST = 25;
    static final double REFILL_PER_SECOND = 1.0 / 300;
    private static final String COMBINED = "(combined from similar events): ";

    private final Lru<Group, Similar> similar = new Lru<>(REMEMBERED);
    private final Lru<Key, Seen> seen = new Lru<>(REMEMBERED);
    private final Lru<Origin, TokenBucket> budgets = new Lru<>(REMEMBERED);

    /**
     * An event as it was recorded.
     *
     * @param source the component that it is of
     */
    record Input(ObjectRef about, String type, String reason, String message, String source) {}

    /**
     * A write of an Event object.
     *
     * @param name the name of the Event object
     * @param message the message, possibly of a combination
     * @param first when it happened first
     * @param count how often it has happened; above 1 if the object exists already
     */
    record Write(String name, String message, Instant first, int count) {}

    private record Origin(String source, ObjectRef about) {}

    private record Group(Origin origin, String type, String reason) {}

    private record Key(Group group, String message) {}

    private record Seen(String name, Instant first, int count) {}

    private static final class Similar {
        /** Their hash codes: the messages of all groups would be tens of megabytes. Two with one code count once. */
        private final Set<Integer> messages = new HashSet<>();

        private long lastNanos;
    }

    /**
     * The write for {@code event}, if any.
     *
     * @param freshName the name to use for a new object
     * @param wall the time to write
     * @param nanos the monotonic time
     */
    Optional<Write> observe(Input event, String freshName, Instant wall, long nanos) {
        Origin origin = new Origin(event.source, event.about);
        Group group = new Group(origin, event.type, event.reason);
        boolean combined = isOneOfMany(group, event.message, nanos);
        // Combined events share one object, whatever their message.
        Key key = new Key(group, combined ? COMBINED : event.message);
        String message = combined ? COMBINED + event.message : event.message;
        Seen before = lookUp(key);
        Seen now =
                before == null ? new Seen(freshName, wall, 1) : new Seen(before.name, before.first, before.count + 1);
        seen.put(key, now);
        if (!budget(origin, nanos).tryTake(nanos)) {
            return Optional.empty();
        }
        return Optional.of(new Write(now.name, message, now.first, now.count));
    }

    private @Nullable Seen lookUp(Key key) {
        return seen.get(key);
    }

    private boolean isOneOfMany(Group group, String message, long nanos) {
        Similar record = similar.computeIfAbsent(group, fresh -> new Similar());
        if (nanos - record.lastNanos > SIMILAR_WITHIN.toNanos()) {
            record.messages.clear();
        }
        record.lastNanos = nanos;
        if (record.messages.contains(message.hashCode())) {
            return false;
        }
        if (record.messages.size() >= SIMILAR) {
            return true;
        }
        record.messages.add(message.hashCode());
        return false;
    }

    private TokenBucket budget(Origin origin, long nanos) {
        return budgets.computeIfAbsent(origin, fresh -> new TokenBucket(REFILL_PER_SECOND, BURST, nanos));
    }
}
