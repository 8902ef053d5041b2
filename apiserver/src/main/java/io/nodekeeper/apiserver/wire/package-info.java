/** Encodings for Kubernetes' clients besides JSON: protobuf of objects, and protobuf of OpenAPI documents. */
@NullMarked
package io.nodekeeper.apiserver.wire;

import org.jspecify.annotations.NullMarked;
