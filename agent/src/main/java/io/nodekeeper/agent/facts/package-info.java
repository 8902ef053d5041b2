/** What the agent knows about its node: values that collectors write and that the status is computed from. */
@NullMarked
package io.nodekeeper.agent.facts;

import org.jspecify.annotations.NullMarked;
