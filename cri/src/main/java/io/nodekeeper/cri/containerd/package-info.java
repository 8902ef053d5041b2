/** The messages and stubs of containerd's event stream, generated from containerd_events.proto. */
@NullMarked
package io.nodekeeper.cri.containerd;

import org.jspecify.annotations.NullMarked;
