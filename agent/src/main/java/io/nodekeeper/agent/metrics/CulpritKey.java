package io.nodekeeper.agent.metrics;

/** What culprits are counted by: the layer that hangs, such as {@code cni-plugin}, and why. Immutable. */
public record CulpritKey(String layer, String reason) {}
