/** What the clients over gRPC share: channels, calls with one answer, and errors in the form of Go's clients. */
@NullMarked
package io.nodekeeper.cri.grpc;

import org.jspecify.annotations.NullMarked;
