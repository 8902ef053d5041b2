/** HTTPS around the request core: the only part of the API server that knows Netty. */
@NullMarked
package io.nodekeeper.apiserver.netty;

import org.jspecify.annotations.NullMarked;
