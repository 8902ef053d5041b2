package io.nodekeeper.it.faults;

import java.util.Set;
import java.util.TreeSet;

/**
 * A fault of something that is there all the time: the runtime, a shim, a container, a disk, a limit.
 *
 * @param endsVictim whether the pod that is hit ends as a part of it
 * @param needsProbes whether it shows only when the agent probes the pod network
 */
record Standing(
        Layer layer,
        Way way,
        String text,
        Scope scope,
        String slot,
        boolean endsVictim,
        boolean needsProbes,
        Strike action)
        implements Primitive {
    /** Lets it happen. */
    interface Strike {
        Struck strike(Scene scene) throws Exception;
    }

    /** Asks whether something is so. */
    interface Question {
        boolean ask() throws Exception;
    }

    /** Does something. */
    interface Action {
        void run() throws Exception;
    }

    @Override
    public Struck strike(Scene scene) throws Exception {
        return action.strike(scene);
    }

    static Struck struck(Truth truth, Question lasts, Action heal) {
        return new Struck() {
            @Override
            public Truth truth() {
                return truth;
            }

            @Override
            public boolean lasts() throws Exception {
                return lasts.ask();
            }

            @Override
            public void heal() throws Exception {
                heal.run();
            }
        };
    }

    static Standing node(Layer layer, Way way, String text, Strike action) {
        return new Standing(layer, way, text, Scope.NODE, "node", false, false, action);
    }

    static Standing runtime(Layer layer, Way way, String text, Strike action) {
        return new Standing(layer, way, text, Scope.RUNTIME, "node", false, false, action);
    }

    static Standing pod(Layer layer, Way way, String text, Strike action) {
        return new Standing(layer, way, text, Scope.POD, layer.name(), false, false, action);
    }

    static Standing probed(Layer layer, Way way, String text, Strike action) {
        return new Standing(layer, way, text, Scope.NODE, "node", false, true, action);
    }

    static Set<Long> with(long pid, Set<Long> others) {
        Set<Long> all = new TreeSet<>(others);
        all.add(pid);
        return all;
    }
}
