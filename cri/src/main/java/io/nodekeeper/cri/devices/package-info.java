/** Kubernetes' device plugin API over unix sockets: plugins as an asynchronous port with deadlines, and their registration. */
@NullMarked
package io.nodekeeper.cri.devices;

import org.jspecify.annotations.NullMarked;
