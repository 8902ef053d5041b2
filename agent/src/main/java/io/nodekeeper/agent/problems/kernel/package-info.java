/** Reads what the kernel reports about the node: its log, its mounts and its limits. */
@NullMarked
package io.nodekeeper.agent.problems.kernel;

import org.jspecify.annotations.NullMarked;
