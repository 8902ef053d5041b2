/** Reads what control groups use, in both versions of their file system, and how long their tasks were stalled. */
@NullMarked
package io.nodekeeper.agent.stats.cgroups;

import org.jspecify.annotations.NullMarked;
