/** Records Kubernetes Events: correlates repeated ones, limits their rate and writes them in the background. */
@NullMarked
package io.nodekeeper.client.events;

import org.jspecify.annotations.NullMarked;
