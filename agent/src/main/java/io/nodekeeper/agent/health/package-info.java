/** Checks whether the agent's own loops still run, and reports it at health endpoints and to systemd. */
@NullMarked
package io.nodekeeper.agent.health;

import org.jspecify.annotations.NullMarked;
