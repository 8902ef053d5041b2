/** CSI drivers of the node: their registration, and what the API shows of them. */
@NullMarked
package io.nodekeeper.agent.csi;

import org.jspecify.annotations.NullMarked;
