/** What the agent knows of its container runtime: whether it is up, what it runs, and which calls are under way. */
@NullMarked
package io.nodekeeper.agent.runtime;

import org.jspecify.annotations.NullMarked;
