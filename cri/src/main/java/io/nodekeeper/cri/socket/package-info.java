/** Unix-domain connections as sockets of {@code java.net}, and gRPC's channels over them. */
@NullMarked
package io.nodekeeper.cri.socket;

import org.jspecify.annotations.NullMarked;
