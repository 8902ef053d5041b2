/** The Node authorizer: what a node may read and write, by the pods that are bound to it. Pure. */
@NullMarked
package io.nodekeeper.apiserver.authorization.node;

import org.jspecify.annotations.NullMarked;
