package io.nodekeeper.agent.facts;

/**
 * What the machine has for its pods and the rest of the system. Immutable.
 *
 * @param processors logical ones
 * @param memory bytes
 * @param processes the most processes and threads
 */
public record Capacity(int processors, long memory, long processes) {}
