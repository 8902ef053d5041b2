/** Tracks all calls to the container runtime, and which of them are in progress or overdue. */
@NullMarked
package io.nodekeeper.agent.calls;

import org.jspecify.annotations.NullMarked;
