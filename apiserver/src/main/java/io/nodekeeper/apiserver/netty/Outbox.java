package io.nodekeeper.apiserver.netty;

import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;

/**
 * The way from the threads that have news to one event loop: whatever gathers while the loop is busy is handed over in
 * one task, and each watch then writes all of its share with one flush. Thread-safe.
 */
final class Outbox implements Runnable {
    /** The item that cuts off a target which left too much unread. */
    static final Object CUT = new Object();

    /** Writes the items of one stream. */
    interface Target {
        /** Counts {@code news} bytes as unread; false if that is too much. Called under the lock of the outbox. */
        boolean count(long news);

        /** Counts {@code news} bytes as read. Called under the lock of the outbox. */
        void uncount(long news);

        /** Adds {@code item} to the queue; returns whether {@link #drain} is to be called. Called on the event loop. */
        boolean queue(Object item);

        /** Writes as much as the channel takes, with one flush. Called on the event loop. */
        void drain();
    }

    private final EventExecutor executor;
    /** Targets and their items: the item of each target follows it. */
    private List<Object> waiting = new ArrayList<>();

    private boolean scheduled;

    Outbox(EventExecutor executor) {
        this.executor = executor;
    }

    /** Hands {@code item} to {@code target} on the event loop, in order; {@code news} bytes of it count as unread till then. */
    void add(Target target, Object item, int news) {
        synchronized (this) {
            waiting.add(target);
            waiting.add(target.count(news) ? item : CUT);
            if (scheduled) {
                return;
            }
            scheduled = true;
        }
        executor.execute(this);
    }

    /** Tells that {@code news} bytes are no longer unread. */
    void taken(Target target, long news) {
        synchronized (this) {
            target.uncount(news);
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
