/** The HTTPS server around {@code ApiServer}: the only package of the API server that uses Netty. */
@NullMarked
package io.nodekeeper.apiserver.netty;

import org.jspecify.annotations.NullMarked;
