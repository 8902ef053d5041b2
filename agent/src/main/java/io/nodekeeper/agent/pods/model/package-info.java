/** Typed views of pods, as the node reads them. */
@NullMarked
package io.nodekeeper.agent.pods.model;

import org.jspecify.annotations.NullMarked;
