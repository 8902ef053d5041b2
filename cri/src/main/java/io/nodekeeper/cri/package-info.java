/** The container runtime of a node as an asynchronous port: calls are values, each with a deadline. */
@NullMarked
package io.nodekeeper.cri;

import org.jspecify.annotations.NullMarked;
