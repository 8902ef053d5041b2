/** Finds and names what makes calls to the container runtime hang: which layer, which process, whose pod, and what to do. */
@NullMarked
package io.nodekeeper.agent.culprit;

import org.jspecify.annotations.NullMarked;
