/** Plugins of the node that register by a socket, as with a kubelet: CSI drivers, and others by their type. */
@NullMarked
package io.nodekeeper.agent.plugins;

import org.jspecify.annotations.NullMarked;
