package io.nodekeeper.agent.facts;

/**
 * An available amount and its capacity.
 *
 * @param available what is left, in the thing's own unit
 * @param capacity what there is in all
 */
public record Level(long available, long capacity) {}
