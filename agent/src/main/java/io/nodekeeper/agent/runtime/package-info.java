/** What the agent knows about its container runtime, and what the node's status reports of it. */
@NullMarked
package io.nodekeeper.agent.runtime;

import org.jspecify.annotations.NullMarked;
