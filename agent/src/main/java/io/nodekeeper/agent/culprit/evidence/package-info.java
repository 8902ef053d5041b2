/** The evidence as a graph: who waits for whom, what its roots are, and how sure a chain of it is. */
@NullMarked
package io.nodekeeper.agent.culprit.evidence;

import org.jspecify.annotations.NullMarked;
