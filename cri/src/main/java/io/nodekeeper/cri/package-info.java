/** An asynchronous port to a node's container runtime: calls are values, each with a deadline. */
@NullMarked
package io.nodekeeper.cri;

import org.jspecify.annotations.NullMarked;
