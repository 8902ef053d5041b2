/** The serving certificate of the node's API, which the cluster issues. */
@NullMarked
package io.nodekeeper.agent.certificates;

import org.jspecify.annotations.NullMarked;
