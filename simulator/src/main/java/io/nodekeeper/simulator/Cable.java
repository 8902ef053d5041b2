package io.nodekeeper.simulator;

import java.time.Duration;
import java.util.ArrayDeque;

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
    private State state = State.UP;
    private Duration extra = Duration.ZERO;

    State state() {
        return state;
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
            held.clear();
        }
    }

    /** The machine is gone, and with it what it still had to send. */
    void forget() {
        held.clear();
    }

    /** A message has come to its end: it is taken out here, or waits, or is lost. */
    void deliver(Runnable message) {
        switch (state) {
            case UP -> message.run();
            case SILENT -> held.add(message);
            case CUT -> {}
        }
    }
}
