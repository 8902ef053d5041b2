/** The directories and volumes of pods on this node's disk, and what their files contain. */
@NullMarked
package io.nodekeeper.agent.pods.volumes;

import org.jspecify.annotations.NullMarked;
