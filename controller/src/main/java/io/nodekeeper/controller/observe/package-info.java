/** Observe mode: compares what the controller would have done with what the cluster's own controller did. */
@NullMarked
package io.nodekeeper.controller.observe;

import org.jspecify.annotations.NullMarked;
