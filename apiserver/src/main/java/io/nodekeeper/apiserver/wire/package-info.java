/** The forms in which Kubernetes' clients write and read besides JSON: its protobuf, and the protobuf of OpenAPI documents. */
@NullMarked
package io.nodekeeper.apiserver.wire;

import org.jspecify.annotations.NullMarked;
