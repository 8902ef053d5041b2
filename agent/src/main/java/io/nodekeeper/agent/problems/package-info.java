/** Finds problems of the node itself and reports them as conditions and events. */
@NullMarked
package io.nodekeeper.agent.problems;

import org.jspecify.annotations.NullMarked;
