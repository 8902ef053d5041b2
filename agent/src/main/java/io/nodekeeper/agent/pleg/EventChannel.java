package io.nodekeeper.agent.pleg;

import io.nodekeeper.time.Loop;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * Events on their way to a listener, each in a turn of the loop of its own, so that a slow or faulty listener does not
 * hold up who tells. When the channel is full, events are dropped and counted.
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
