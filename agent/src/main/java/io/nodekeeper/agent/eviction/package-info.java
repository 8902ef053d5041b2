/** Eviction thresholds, and the pressure conditions that follow from them. */
@NullMarked
package io.nodekeeper.agent.eviction;

import org.jspecify.annotations.NullMarked;
