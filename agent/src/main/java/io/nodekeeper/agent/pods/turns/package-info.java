/** Lets calls for pods wait for their turn: starts for the processors, probes and stops for places that pods share. */
@NullMarked
package io.nodekeeper.agent.pods.turns;

import org.jspecify.annotations.NullMarked;
