/** Runs the pods of this node: one worker per pod, and the calls that they make. */
@NullMarked
package io.nodekeeper.agent.pods;

import org.jspecify.annotations.NullMarked;
