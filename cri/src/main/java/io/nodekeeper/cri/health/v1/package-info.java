/** The messages and stubs of gRPC's health checks, generated from health.proto. */
@NullMarked
package io.nodekeeper.cri.health.v1;

import org.jspecify.annotations.NullMarked;
