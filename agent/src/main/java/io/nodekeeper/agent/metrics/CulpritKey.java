package io.nodekeeper.agent.metrics;

/** What culprits are counted by: the layer that hangs, such as {@code CNI plugin}, and the reason in CamelCase. Immutable. */
public record CulpritKey(String layer, String reason) {}
