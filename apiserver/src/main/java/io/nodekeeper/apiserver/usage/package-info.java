/** What nodes and pods use: {@code metrics.k8s.io}, measured by the nodes and asked for when a client asks. */
@NullMarked
package io.nodekeeper.apiserver.usage;

import org.jspecify.annotations.NullMarked;
