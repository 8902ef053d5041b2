/** The messages and stubs of CSI's node service, generated from csi.proto. */
@NullMarked
package io.nodekeeper.cri.plugin.csi;

import org.jspecify.annotations.NullMarked;
