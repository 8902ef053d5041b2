/** Where the node's pods come from. */
@NullMarked
package io.nodekeeper.agent.pods.sources;

import org.jspecify.annotations.NullMarked;
