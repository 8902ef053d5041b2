/** Passes HTTP requests and upgraded connections of a client on to another server, as bytes and with bounded memory. */
@NullMarked
package io.nodekeeper.client.relay;

import org.jspecify.annotations.NullMarked;
