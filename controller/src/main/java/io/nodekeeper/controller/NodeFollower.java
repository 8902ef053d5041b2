package io.nodekeeper.controller;

import io.nodekeeper.api.Node;

/** A part of the controller that does something about nodes as they change. Called on the loop. */
interface NodeFollower {
    /** This is the newest state of a known node, whether it was listed, watched, read or written here. */
    void seen(NodeHealth health, Node node);

    /** The node is gone, or another one has taken its name. */
    default void gone(NodeHealth health) {}
}
