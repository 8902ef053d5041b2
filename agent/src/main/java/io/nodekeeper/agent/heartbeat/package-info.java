/** Sends the two kinds of heartbeats that Kubernetes knows: updates of the Node's status and renewals of its Lease. */
@NullMarked
package io.nodekeeper.agent.heartbeat;

import org.jspecify.annotations.NullMarked;
