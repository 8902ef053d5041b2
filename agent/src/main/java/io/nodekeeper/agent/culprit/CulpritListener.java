package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.Culprit;

/** Hears of culprits, on the loop. */
public interface CulpritListener {
    /** Nobody listens. */
    CulpritListener NONE = new CulpritListener() {
        @Override
        public void found(Culprit culprit) {}

        @Override
        public void cleared(Culprit culprit) {}
    };

    /** Something hangs that did not hang before. */
    void found(Culprit culprit);

    /** It hangs no longer. */
    void cleared(Culprit culprit);
}
