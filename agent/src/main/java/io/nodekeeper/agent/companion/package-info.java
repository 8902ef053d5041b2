/** Reports on a node beside its kubelet, which keeps the Node, the lease and Ready. */
@NullMarked
package io.nodekeeper.agent.companion;

import org.jspecify.annotations.NullMarked;
