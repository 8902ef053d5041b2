/** The behaviour of kube-controller-manager: passes over all nodes and its own zone queues, for comparison. */
@NullMarked
package io.nodekeeper.controller.reference;

import org.jspecify.annotations.NullMarked;
