/** Which pods the node ends when it runs out of a resource, or when they use more disk than they may. */
@NullMarked
package io.nodekeeper.agent.pods.eviction;

import org.jspecify.annotations.NullMarked;
