/** The pod lifecycle event generator (PLEG): detects changes of the node's pods by listing them, and caches their status. */
@NullMarked
package io.nodekeeper.agent.pleg;

import org.jspecify.annotations.NullMarked;
