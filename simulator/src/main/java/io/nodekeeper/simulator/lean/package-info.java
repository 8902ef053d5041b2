/** Runs as many nodes as one process can hold, with nodes that only renew their leases. */
@NullMarked
package io.nodekeeper.simulator.lean;

import org.jspecify.annotations.NullMarked;
