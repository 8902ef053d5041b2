/** Plugins of a node behind unix sockets, as an asynchronous port with deadlines, and its gRPC implementation. */
@NullMarked
package io.nodekeeper.cri.plugin;

import org.jspecify.annotations.NullMarked;
