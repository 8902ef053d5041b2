/** The pod lifecycle event generator (PLEG): finds out by lists what became of the node's pods, and caches their state. */
@NullMarked
package io.nodekeeper.agent.pleg;

import org.jspecify.annotations.NullMarked;
