/** Mounts that the node makes for pods: memory file systems, and parts of volumes. */
@NullMarked
package io.nodekeeper.agent.pods.mounts;

import org.jspecify.annotations.NullMarked;
