/** Checks whether the agent's own loops still run, and how health endpoints report it. */
@NullMarked
package io.nodekeeper.agent.health;

import org.jspecify.annotations.NullMarked;
