/** The agent's Prometheus metrics. */
@NullMarked
package io.nodekeeper.agent.metrics;

import org.jspecify.annotations.NullMarked;
