/** Limits of the work that the TLS records of clients cause in a server. */
@NullMarked
package io.nodekeeper.client.tls;

import org.jspecify.annotations.NullMarked;
