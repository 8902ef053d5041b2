package io.nodekeeper.agent.metrics;

/**
 * The labels by which culprits are counted: the layer that hangs, such as {@code CNI plugin}, and the reason in
 * CamelCase. Immutable.
 */
public record CulpritKey(String layer, String reason) {}
