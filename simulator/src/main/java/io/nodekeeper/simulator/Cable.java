package io.nodekeeper.simulator;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;

/** A machine's connection to the network and what is wrong with it. Confined to virtual time. */
final class Cable {
    /** What becomes of messages. */
    enum State {
        /** They arrive. */
        UP,
        /** They are refused, and connections break: the sender knows at once. */
        CUT,
        /** They wait, as TCP keeps sending what is not acknowledged, and nobody is told. */
        SILENT
    }

    private final ArrayDeque<Runnable> held = new ArrayDeque<>();
    /** What watches of a resource said while they were stalled, by the resource. */
    private final Map<String, ArrayDeque<Runnable>> stalled = new LinkedHashMap<>();

    /** How much longer what watches of a resource say takes, by the resource. */
    private final Map<String, Duration> lags = new LinkedHashMap<>();

    private State state = State.UP;
    private Duration extra = Duration.ZERO;

    State state() {
        return state;
    }

    /** Whether all that is sent arrives. */
    boolean isWhole() {
        return state == State.UP && stalled.isEmpty();
    }

    /** How much longer than usual each message takes. */
    Duration extra() {
        return extra;
    }

    void slowDown(Duration more) {
        extra = more;
    }

    /** From now on messages fare so; those that waited arrive if they can now, and are lost if the cable is cut. */
    void become(State next) {
        state = next;
        if (next == State.UP) {
            while (!held.isEmpty()) {
                held.poll().run();
            }
        } else if (next == State.CUT) {
            forget();
        }
    }

    /** Watches of a resource say nothing more, though their connections are open and all else gets through. */
    void stall(String resource) {
        stalled.computeIfAbsent(resource, first -> new ArrayDeque<>());
    }

    /** What stalled watches had to say arrives. */
    void resume(String resource) {
        ArrayDeque<Runnable> said = stalled.remove(resource);
        while (said != null && !said.isEmpty()) {
            deliver(said.poll());
        }
    }

    /** What watches of a resource say takes longer by this, while all else is as fast as usual. */
    void lag(String resource, Duration by) {
        if (by.isZero()) {
            lags.remove(resource);
        } else {
            lags.put(resource, by);
        }
    }

    /** How much longer what a watch of {@code resource} says takes than another message. */
    Duration lag(String resource) {
        return lags.getOrDefault(resource, Duration.ZERO);
    }

    /** The machine is gone, and with it what it still had to send. */
    void forget() {
        held.clear();
        stalled.values().forEach(ArrayDeque::clear);
    }

    /** A message has come to its end: it is taken out here, or waits, or is lost. */
    void deliver(Runnable message) {
        switch (state) {
            case UP -> message.run();
            case SILENT -> held.add(message);
            case CUT -> {}
        }
    }

    /** What a watch of {@code resource} says has come to its end. */
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
