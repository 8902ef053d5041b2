/** Compares configurations of controllers and agents on the same faults. */
@NullMarked
package io.nodekeeper.simulator.tune;

import org.jspecify.annotations.NullMarked;
