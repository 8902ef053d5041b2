package io.nodekeeper.controller.observer;

/**
 * A span of time that was given back to the nodes, because nothing proves that their renewals could be stored in it.
 *
 * @param from when it began, nanoseconds by the controller's monotonic clock
 * @param until when it ended, by the same clock
 */
public record DarkSpan(long from, long until) {}
