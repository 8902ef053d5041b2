package io.nodekeeper.agent.facts;

/**
 * An available amount and its capacity.
 *
 * @param available the amount that is left, in the unit of the resource
 * @param capacity the total amount
 */
public record Level(long available, long capacity) {}
