/** Reads processes from /proc and cgroup files; values in, values out, no judgement. */
@NullMarked
package io.nodekeeper.agent.culprit.scan;

import org.jspecify.annotations.NullMarked;
