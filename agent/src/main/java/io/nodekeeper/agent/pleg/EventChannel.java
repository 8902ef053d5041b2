package io.nodekeeper.agent.pleg;

import io.nodekeeper.time.Loop;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * Queues events for a listener and delivers each in its own task on the loop, so that a slow or faulty listener does
 * not delay the sender. Events that do not fit are dropped and counted.
 */
final class EventChannel {
    private final Queue<PodEvent> events = new ArrayDeque<>();
    private final Loop loop;
    private final Consumer<PodEvent> listener;
    private final Runnable discarded;

    EventChannel(Loop loop, Consumer<PodEvent> listener, Runnable discarded) {
        this.loop = loop;
        this.listener = listener;
        this.discarded = discarded;
    }

    void offer(PodEvent event) {
        if (events.size() >= PlegConfig.CHANNEL_CAPACITY) {
            discarded.run();
            return;
        }
        events.add(event);
        loop.execute(() -> listener.accept(events.remove()));
    }
}
