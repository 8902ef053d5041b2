/** The server's metrics, under the names of kube-apiserver. */
@NullMarked
package io.nodekeeper.apiserver.metrics;

import org.jspecify.annotations.NullMarked;
