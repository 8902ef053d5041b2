package io.nodekeeper.simulator.network;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;

/** A simulated machine's network connection and its faults. Confined to virtual time. */
public final class Cable {
    /** What happens to messages. */
    public enum State {
        /** Messages arrive. */
        UP,
        /** Messages are refused and connections break: the sender notices immediately. */
        CUT,
        /** Messages wait, as TCP keeps retransmitting, and neither end notices. */
        SILENT
    }

    private final ArrayDeque<Runnable> held = new ArrayDeque<>();
    /** Events of stalled watches, by resource. */
    private final Map<String, ArrayDeque<Runnable>> stalled = new LinkedHashMap<>();

    /** The additional delay of watch events, by resource. */
    private final Map<String, Duration> lags = new LinkedHashMap<>();

    private State state = State.UP;
    private Duration extra = Duration.ZERO;

    State state() {
        return state;
    }

    /** Whether all messages arrive. */
    public boolean isWhole() {
        return state == State.UP && stalled.isEmpty();
    }

    /** The additional delay of each message. */
    public Duration extra() {
        return extra;
    }

    public void slowDown(Duration more) {
        extra = more;
    }

    /** Changes the state; messages that waited arrive if they can now, and are lost if the cable is cut. */
    public void become(State next) {
        state = next;
        if (next == State.UP) {
            while (!held.isEmpty()) {
                held.poll().run();
            }
        } else if (next == State.CUT) {
            forget();
        }
    }

    /** Stalls the watches of a resource: their connections stay open, and all other messages arrive. */
    public void stall(String resource) {
        stalled.computeIfAbsent(resource, first -> new ArrayDeque<>());
    }

    /** Delivers the events of stalled watches. */
    public void resume(String resource) {
        ArrayDeque<Runnable> said = stalled.remove(resource);
        while (said != null && !said.isEmpty()) {
            deliver(said.poll());
        }
    }

    /** Delays the watch events of a resource by this time; other messages keep their speed. */
    public void lag(String resource, Duration by) {
        if (by.isZero()) {
            lags.remove(resource);
        } else {
            lags.put(resource, by);
        }
    }

    /** The additional delay of watch events of {@code resource}. */
    Duration lag(String resource) {
        return lags.getOrDefault(resource, Duration.ZERO);
    }

    /** The machine has crashed: drops the messages that it still had to send. */
    public void forget() {
        held.clear();
        stalled.values().forEach(ArrayDeque::clear);
    }

    /** A message has reached the end of the cable: it is delivered, waits, or is lost. */
    void deliver(Runnable message) {
        switch (state) {
            case UP -> message.run();
            case SILENT -> held.add(message);
            case CUT -> {}
        }
    }

    /** A watch event of {@code resource} has reached the end of the cable. */
    void deliverWatched(String resource, Runnable message) {
        deliver(() -> {
            ArrayDeque<Runnable> waiting = stalled.get(resource);
            if (waiting == null) {
                message.run();
            } else {
                waiting.add(message);
            }
        });
    }
}
