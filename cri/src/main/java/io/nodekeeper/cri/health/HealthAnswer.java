package io.nodekeeper.cri.health;

/**
 * The outcome of a health check.
 *
 * @param healthy whether the server answered that it serves
 * @param message why not, for people, in the kubelet's words; otherwise the status
 */
public record HealthAnswer(boolean healthy, String message) {}
