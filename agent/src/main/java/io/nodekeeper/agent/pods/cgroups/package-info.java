/** The cgroups of pods, of their classes of service, and of all pods of the node. */
@NullMarked
package io.nodekeeper.agent.pods.cgroups;

import org.jspecify.annotations.NullMarked;
