package io.nodekeeper.apiserver.netty;

import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;

/**
 * Passes items from any thread to one event loop. Items that arrive while the loop is busy are passed in one task, and
 * each target then writes all of its items with one flush. Thread-safe.
 */
final class Outbox implements Runnable {
    /** The item that disconnects a target with too much unread data. */
    static final Object CUT = new Object();

    /** Writes the items of one stream. */
    interface Target {
        /** Counts {@code item} as unread; false if that exceeds the limit. Called under the lock of the outbox. */
        boolean count(Object item);

        /** Counts {@code news} bytes as read. Called under the lock of the outbox. */
        void uncount(long news);

        /** The bytes that count as unread. Called under the lock of the outbox. */
        long counted();

        /** Adds {@code item} to the queue; returns whether to call {@link #drain}. Called on the event loop. */
        boolean queue(Object item);

        /** All news is queued: writes it with one flush as far as the channel accepts it, or later. Called on the event loop. */
        void drain();
    }

    private final EventExecutor executor;
    /** Targets and items in turn: each target is followed by its item. */
    private List<Object> waiting = new ArrayList<>();

    private boolean scheduled;

    Outbox(EventExecutor executor) {
        this.executor = executor;
    }

    /** Passes {@code item} to {@code target} on the event loop, in order. */
    void add(Target target, Object item) {
        synchronized (this) {
            waiting.add(target);
            waiting.add(target.count(item) ? item : CUT);
            if (scheduled) {
                return;
            }
            scheduled = true;
        }
        executor.execute(this);
    }

    /** Passes {@code items} to {@code target}, in order, in one task of the event loop. */
    void addAll(Target target, List<byte[]> items) {
        synchronized (this) {
            for (byte[] item : items) {
                waiting.add(target);
                waiting.add(target.count(item) ? item : CUT);
            }
            if (scheduled) {
                return;
            }
            scheduled = true;
        }
        executor.execute(this);
    }

    /** Counts {@code news} bytes as read. */
    void taken(Target target, long news) {
        synchronized (this) {
            target.uncount(news);
        }
    }

    /** The bytes that {@code target} has not read. */
    long unread(Target target) {
        synchronized (this) {
            return target.counted();
        }
    }

    @Override
    public void run() {
        List<Object> batch;
        synchronized (this) {
            batch = waiting;
            waiting = new ArrayList<>();
            scheduled = false;
        }
        List<Target> touched = new ArrayList<>();
        for (int i = 0; i < batch.size(); i += 2) {
            Target target = (Target) batch.get(i);
            if (target.queue(batch.get(i + 1))) {
                touched.add(target);
            }
        }
        touched.forEach(Target::drain);
    }
}
