/** Finds the handler of a request: resources by the catalogue, other documents by their path. */
@NullMarked
package io.nodekeeper.apiserver.routing;

import org.jspecify.annotations.NullMarked;
