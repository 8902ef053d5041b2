/** A simulated cluster: its processes, the faults that they can have, and what an observer sees. */
@NullMarked
package io.nodekeeper.simulator.cluster;

import org.jspecify.annotations.NullMarked;
