/** Bounds of the connections of clients that have not proven who they are. */
@NullMarked
package io.nodekeeper.apiserver.netty.connections;

import org.jspecify.annotations.NullMarked;
