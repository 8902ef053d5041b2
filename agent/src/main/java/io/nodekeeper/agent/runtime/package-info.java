/** What the agent knows of its container runtime: whether it is up, what it is, and what the status says about it. */
@NullMarked
package io.nodekeeper.agent.runtime;

import org.jspecify.annotations.NullMarked;
