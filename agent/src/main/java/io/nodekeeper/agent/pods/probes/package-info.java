/** Runs the probes of containers, and the actions of probes and hooks. */
@NullMarked
package io.nodekeeper.agent.pods.probes;

import org.jspecify.annotations.NullMarked;
