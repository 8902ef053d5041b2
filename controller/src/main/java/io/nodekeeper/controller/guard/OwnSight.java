package io.nodekeeper.controller.guard;

import io.nodekeeper.controller.observer.StalledHop;
import java.time.Duration;

/** What our own controller sees of the cluster. Immutable. */
public sealed interface OwnSight {

    /**
     * It sees.
     *
     * @param nodes the number of nodes in the cluster
     */
    record Sees(int nodes) implements OwnSight {}

    /**
     * It is blind, so that silence of nodes proves nothing.
     *
     * @param nodes the number of nodes in the cluster
     * @param since how long
     * @param hop the reason
     */
    record Blind(int nodes, Duration since, StalledHop hop) implements OwnSight {}

    /**
     * It cannot tell.
     *
     * @param why in words
     */
    record Unknown(String why) implements OwnSight {}
}
