package io.nodekeeper.agent;

/** Hears how an agent's start goes, on its loop; each may be told several times. */
public interface StartListener {
    /** Nobody listens. */
    StartListener NONE = new StartListener() {};

    /** It tries to register its node. */
    default void attempted() {}

    /** The API server has created the Node: there was none before. */
    default void created() {}

    /** The API server knows that the node is ready. */
    default void ready() {}
}
