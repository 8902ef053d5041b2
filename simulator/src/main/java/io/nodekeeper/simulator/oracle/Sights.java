package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.json.JsonObject;

/** Receives the changes of objects in the API, at the moment of each commit. */
public interface Sights {
    /** A node was created or changed. */
    void node(JsonObject node);

    /** A node was deleted. */
    void nodeGone(JsonObject node);

    /** A node's lease was created or changed. */
    void lease(JsonObject lease);

    /** An event was created or counted. */
    void event(JsonObject event);

    /** A pod was created or changed. */
    default void pod(JsonObject pod) {}

    /** A pod was deleted. */
    default void podGone(JsonObject pod) {}

    /** The lock of the controllers was created or changed. */
    default void lock(JsonObject lease) {}
}
