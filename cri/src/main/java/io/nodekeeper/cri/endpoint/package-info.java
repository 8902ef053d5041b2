/** The container runtime at a socket, over whichever of the protocols it speaks. */
@NullMarked
package io.nodekeeper.cri.endpoint;

import org.jspecify.annotations.NullMarked;
