/** Files in which the agent keeps what must outlive it, in the format and with the checksums of a kubelet. */
@NullMarked
package io.nodekeeper.agent.checkpoint;

import org.jspecify.annotations.NullMarked;
