/** HTTP/2 for clients that send frames and headers which cost the server more than them. */
@NullMarked
package io.nodekeeper.apiserver.netty.http2;

import org.jspecify.annotations.NullMarked;
