/** Brings the taints and labels of nodes in step with their conditions. */
@NullMarked
package io.nodekeeper.controller.taints;

import org.jspecify.annotations.NullMarked;
