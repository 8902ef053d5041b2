package io.nodekeeper.controller.observer;

/** A change of the controller's sight. */
public sealed interface SightChange {
    /** The hop that delayed the canaries. */
    StalledHop hop();

    /** There was no proof for longer than the tolerance. */
    record Blind(StalledHop hop, long since) implements SightChange {}

    /** The cause is another hop than the one reported first. */
    record Renamed(StalledHop hop, long since) implements SightChange {}

    /**
     * A canary was seen again after {@code lasted}. The nodes get {@code given} of it back, and {@code hop}
     * explains most of it.
     */
    record Sees(StalledHop hop, long lasted, long given) implements SightChange {}
}
