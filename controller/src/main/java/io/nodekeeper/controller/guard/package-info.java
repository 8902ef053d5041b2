/** Decides whether an admission webhook refuses a write that blames a node. */
@NullMarked
package io.nodekeeper.controller.guard;

import org.jspecify.annotations.NullMarked;
