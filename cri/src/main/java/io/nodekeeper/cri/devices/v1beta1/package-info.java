/** The messages and stubs of Kubernetes' device plugin API, generated from deviceplugin.proto. */
@NullMarked
package io.nodekeeper.cri.devices.v1beta1;

import org.jspecify.annotations.NullMarked;
