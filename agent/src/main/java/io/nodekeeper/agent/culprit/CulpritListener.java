package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.Culprit;

/** Receives culprits and {@linkplain Culprit#isLoad loads}, on the loop. */
public interface CulpritListener {
    /** Ignores all culprits. */
    CulpritListener NONE = new CulpritListener() {
        @Override
        public void found(Culprit culprit) {}

        @Override
        public void cleared(Culprit culprit) {}
    };

    /** A new culprit was found. */
    void found(Culprit culprit);

    /** A culprit is gone. */
    void cleared(Culprit culprit);
}
