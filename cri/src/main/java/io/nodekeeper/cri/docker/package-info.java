/** The port to the container runtime over the API of Docker Engine, for nodes whose pods are Docker containers. */
@NullMarked
package io.nodekeeper.cri.docker;

import org.jspecify.annotations.NullMarked;
