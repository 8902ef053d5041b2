/** Tracks every call to the container runtime: which are under way, and which are overdue. */
@NullMarked
package io.nodekeeper.agent.calls;

import org.jspecify.annotations.NullMarked;
