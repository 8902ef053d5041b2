package io.nodekeeper.apiserver.netty;

import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;

/**
 * The way from the threads that have news to one event loop: whatever gathers while the loop is busy is handed over in
 * one task, and each watch then writes all of its share with one flush. Thread-safe.
 */
final class Outbox implements Runnable {
    private final EventExecutor executor;
    /** Sinks and what they are to send, by turns. */
    private List<Object> waiting = new ArrayList<>();

    private boolean scheduled;

    Outbox(EventExecutor executor) {
        this.executor = executor;
    }

    /** Hands {@code item} to {@code sink} on the event loop, in order; {@code news} bytes of it count as unread till then. */
    void add(NettySink sink, Object item, int news) {
        synchronized (this) {
            waiting.add(sink);
            waiting.add(sink.count(news) ? item : NettySink.CUT);
            if (scheduled) {
                return;
            }
            scheduled = true;
        }
        executor.execute(this);
    }

    /** Tells that {@code news} bytes are no longer unread. */
    void taken(NettySink sink, long news) {
        synchronized (this) {
            sink.uncount(news);
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
        List<NettySink> touched = new ArrayList<>();
        for (int i = 0; i < batch.size(); i += 2) {
            NettySink sink = (NettySink) batch.get(i);
            if (sink.queue(batch.get(i + 1))) {
                touched.add(sink);
            }
        }
        touched.forEach(NettySink::drain);
    }
}
