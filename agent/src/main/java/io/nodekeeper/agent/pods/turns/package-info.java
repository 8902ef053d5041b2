/** Shares places for calls among pods. */
@NullMarked
package io.nodekeeper.agent.pods.turns;

import org.jspecify.annotations.NullMarked;
