/** What successive scans show together: how long a process has been in a state, and what it has done meanwhile. */
@NullMarked
package io.nodekeeper.agent.culprit.history;

import org.jspecify.annotations.NullMarked;
