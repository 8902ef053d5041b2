/** What the agent tells Prometheus. */
@NullMarked
package io.nodekeeper.agent.metrics;

import org.jspecify.annotations.NullMarked;
