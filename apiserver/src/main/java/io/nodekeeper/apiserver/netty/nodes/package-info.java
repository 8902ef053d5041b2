/** The server as a client of nodes: how it shows itself to them, and requests of its own. */
@NullMarked
package io.nodekeeper.apiserver.netty.nodes;

import org.jspecify.annotations.NullMarked;
