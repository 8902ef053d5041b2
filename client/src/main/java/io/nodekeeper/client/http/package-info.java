/** HTTP/1.1 to one server: its connections, and each request with its response as it arrives. */
@NullMarked
package io.nodekeeper.client.http;

import org.jspecify.annotations.NullMarked;
