package io.nodekeeper.agent;

/** Receives the steps of an agent's start, on its loop; each step may be reported several times. */
public interface StartListener {
    /** Ignores all steps. */
    StartListener NONE = new StartListener() {};

    /** It tries to register its node. */
    default void attempted() {}

    /** The API server has created the Node: there was none before. */
    default void created() {}

    /** The API server knows that the node is ready. */
    default void ready() {}
}
