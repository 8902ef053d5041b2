package io.nodekeeper.apiserver.netty;

import io.nodekeeper.apiserver.request.StreamSink;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the bytes of events that all watches together have not sent. Watches share the line of an event, so it counts once, however
 * many watches hold it. Each watch has a limit of its own; this one is for a user with many watches whose events differ. Beyond it,
 * the user whose watches have most unread is disconnected from those, and lists or resumes as after any other end of a watch.
 * Thread-safe.
 */
final class UnreadEvents {
    private static final Logger log = LoggerFactory.getLogger(UnreadEvents.class);

    /** A watch whose events wait for its reader. Thread-safe. */
    interface Watch extends StreamSink {
        /** By whom it is, for the limits of a user. */
        String user();

        /** The bytes of the events that its reader has not read. */
        long unread();

        /** Disconnects the reader, then runs {@code done}. */
        void disconnect(Runnable done);
    }

    private final long limit;
    private final Collection<? extends Watch> watches;
    /** How many watches hold each line. */
    private final Map<byte[], Integer> holders = new IdentityHashMap<>();

    private long total;
    /** Whether {@link #shed} was requested, and the watches that it chose are not all closed. */
    private boolean shedding;

    /** Of {@code watches}, which is safe to read while they open and close. */
    UnreadEvents(long limit, Collection<? extends Watch> watches) {
        this.limit = limit;
        this.watches = watches;
    }

    /** Another watch holds {@code line}. Returns whether the caller must call {@link #shed}, without a lock. */
    synchronized boolean hold(byte[] line) {
        if (holders.merge(line, 1, Integer::sum) == 1) {
            total += line.length;
        }
        if (shedding || total <= limit) {
            return false;
        }
        shedding = true;
        return true;
    }

    /** One watch holds these lines no more. */
    synchronized void release(List<byte[]> lines) {
        for (byte[] line : lines) {
            if (holders.computeIfPresent(line, (held, count) -> count == 1 ? null : count - 1) == null) {
                total -= line.length;
            }
        }
    }

    /** The bytes of all lines that any watch holds. */
    synchronized long total() {
        return total;
    }

    /** Disconnects the watches with unread events of the user who has most. */
    void shed() {
        Map<String, Long> unread = new HashMap<>();
        Map<String, List<Watch>> slow = new HashMap<>();
        for (Watch watch : watches) {
            long bytes = watch.unread();
            if (bytes > 0) {
                unread.merge(watch.user(), bytes, Long::sum);
                slow.computeIfAbsent(watch.user(), user -> new ArrayList<>()).add(watch);
            }
        }
        Map.Entry<String, Long> most =
                unread.entrySet().stream().max(Map.Entry.comparingByValue()).orElse(null);
        if (most == null) {
            ended();
            return;
        }
        List<Watch> ended = slow.getOrDefault(most.getKey(), List.of());
        log.warn(
                "all watches together have {} bytes of unread events, expected at most {}: disconnecting {} watches of {} with {}",
                total(),
                limit,
                ended.size(),
                most.getKey(),
                most.getValue());
        AtomicInteger open = new AtomicInteger(ended.size());
        for (Watch watch : ended) {
            watch.disconnect(() -> {
                if (open.decrementAndGet() == 0) {
                    ended();
                }
            });
        }
    }

    private synchronized void ended() {
        shedding = false;
    }
}
