/** Computes the status of a pod that the node reports. Pure. */
@NullMarked
package io.nodekeeper.agent.pods.status;

import org.jspecify.annotations.NullMarked;
