package io.nodekeeper.agent.pods.model;

/** Receives how many pods the node has and which it refuses, for metrics. Called on the agent's loop. */
public interface PodMetrics {
    /** Ignores both. */
    PodMetrics NONE = new PodMetrics() {
        @Override
        public void counted(PodCounts counts) {}

        @Override
        public void rejected(String reason) {}
    };

    /** The pods were counted. */
    void counted(PodCounts counts);

    /** A pod was not admitted. */
    void rejected(String reason);
}
