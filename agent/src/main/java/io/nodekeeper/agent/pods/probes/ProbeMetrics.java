package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.ProbeKind;

/** Counts probes. */
public interface ProbeMetrics {
    /** Counts nothing. */
    ProbeMetrics NONE = new ProbeMetrics() {
        @Override
        public void probed(Pod pod, String container, ProbeKind kind, ProbeResult.Outcome outcome) {}

        @Override
        public void forget(Pod pod) {}
    };

    /** A probe of a container of {@code pod} ended. */
    void probed(Pod pod, String container, ProbeKind kind, ProbeResult.Outcome outcome);

    /** The pod has ended; its counts are no longer shown. */
    void forget(Pod pod);
}
