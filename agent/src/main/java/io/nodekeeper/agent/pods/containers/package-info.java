/** Translates pods to the container runtime's configurations of sandboxes and containers. Pure. */
@NullMarked
package io.nodekeeper.agent.pods.containers;

import org.jspecify.annotations.NullMarked;
