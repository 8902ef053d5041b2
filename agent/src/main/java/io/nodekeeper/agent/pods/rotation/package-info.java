/** Rotates the logs of containers. */
@NullMarked
package io.nodekeeper.agent.pods.rotation;

import org.jspecify.annotations.NullMarked;
