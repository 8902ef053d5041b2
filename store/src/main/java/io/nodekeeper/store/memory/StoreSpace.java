package io.nodekeeper.store.memory;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.Usage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what all objects take, on disk and in memory, against the limits of the store. When one is reached, it raises an alarm:
 * changes that take more space are refused until deletions have reduced both below 95 %. Confined to the store's loop, except
 * {@link #usage}.
 */
final class StoreSpace {
    private static final Logger log = LoggerFactory.getLogger(StoreSpace.class);
    /** Bytes of memory that an object costs besides its key and value: the entry and its places in the index. */
    private static final int OBJECT = 250;
    /** The part of the limits below which the alarm ends. */
    private static final double ENOUGH = 0.95;

    private final StoreLimits limits;
    private long bytes;
    private long heap;
    /** Whether changes that take more space are refused. */
    private boolean exceeded;

    private volatile Usage usage = Usage.UNKNOWN;

    StoreSpace(StoreLimits limits) {
        this.limits = limits;
    }

    /** The numbers of the last {@link #publish}. Thread-safe. */
    Usage usage() {
        return usage;
    }

    /** Counts an object that is there already. */
    void add(Entry entry) {
        bytes += bytes(entry);
        heap += heap(entry);
    }

    /** Counts a change, which includes changes that are not durable yet. */
    void add(Event event) {
        event.before().ifPresent(this::remove);
        event.after().ifPresent(this::add);
    }

    /** Undoes {@link #add(Event)}. */
    void undo(Event event) {
        event.after().ifPresent(this::remove);
        event.before().ifPresent(this::add);
    }

    private void remove(Entry entry) {
        bytes -= bytes(entry);
        heap -= heap(entry);
    }

    /** Whether {@code event} would exceed a limit, which begins the alarm, or takes more space during an alarm. */
    boolean refuses(Event event) {
        if (event.after().isEmpty()) {
            return false;
        }
        long moreBytes = bytes(event.after().get())
                - event.before().map(StoreSpace::bytes).orElse(0L);
        long moreHeap =
                heap(event.after().get()) - event.before().map(StoreSpace::heap).orElse(0L);
        if (moreBytes <= 0 && moreHeap <= 0) {
            return false;
        }
        if (!exceeded && bytes + moreBytes <= limits.quota() && heap + moreHeap <= limits.heap()) {
            return false;
        }
        if (!exceeded) {
            exceeded = true;
            log.error(
                    "the store is full: {} bytes of {}, {} of {} in memory; refusing writes that need space until"
                            + " deletions reduce it below 95 %",
                    bytes, limits.quota(), heap, limits.heap());
        }
        return true;
    }

    /** The error of a write to {@code key} that was refused. */
    StoreException refusal(String key) {
        return new StoreException.NoSpace(
                "etcdserver: mvcc: database space exceeded: " + key + " is not written; the store has " + bytes
                        + " bytes of " + limits.quota() + ", " + heap + " of " + limits.heap() + " in memory");
    }

    /** Ends the alarm if there is space again, and publishes the totals. */
    void publish() {
        if (exceeded && bytes <= limits.quota() * ENOUGH && heap <= limits.heap() * ENOUGH) {
            exceeded = false;
            log.info("the store has space again: {} bytes of {}", bytes, limits.quota());
        }
        usage = new Usage(bytes, limits.quota(), exceeded);
    }

    private static long bytes(Entry entry) {
        return entry.key().length() + (long) entry.length();
    }

    private static long heap(Entry entry) {
        return OBJECT + entry.key().length() + (long) entry.resident();
    }
}
