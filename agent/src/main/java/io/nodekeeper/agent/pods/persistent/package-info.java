/** Persistent volumes of pods: claims, CSI drivers, attachments, and what of them is mounted on this node. */
@NullMarked
package io.nodekeeper.agent.pods.persistent;

import org.jspecify.annotations.NullMarked;
