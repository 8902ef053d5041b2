/** Removes what nothing on the node needs any more: images that no pod uses, and containers of pods that have ended. */
@NullMarked
package io.nodekeeper.agent.pods.garbage;

import org.jspecify.annotations.NullMarked;
