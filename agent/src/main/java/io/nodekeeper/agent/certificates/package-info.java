/** Certificates of the node that the cluster issues: that of its API, and that of the agent as a client. */
@NullMarked
package io.nodekeeper.agent.certificates;

import org.jspecify.annotations.NullMarked;
