/** Whether this node can confine a pod as the pod asks, and may let it do what it wants. */
@NullMarked
package io.nodekeeper.agent.pods.security;

import org.jspecify.annotations.NullMarked;
