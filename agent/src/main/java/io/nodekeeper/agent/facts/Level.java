package io.nodekeeper.agent.facts;

/**
 * How much of something is left.
 *
 * @param available what is left, in the thing's own unit
 * @param capacity what there is in all
 */
public record Level(long available, long capacity) {}
