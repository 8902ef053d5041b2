/** Recorded heartbeats of a real cluster, and a controller that judges them again in virtual time. */
@NullMarked
package io.nodekeeper.simulator.replay;

import org.jspecify.annotations.NullMarked;
