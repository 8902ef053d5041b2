/** Finds and names what makes calls to the container runtime hang: layer, process, pod and remedy. */
@NullMarked
package io.nodekeeper.agent.culprit;

import org.jspecify.annotations.NullMarked;
