/** Computes a node's status from facts; pure, without calls or clocks. */
@NullMarked
package io.nodekeeper.agent.status;

import org.jspecify.annotations.NullMarked;
