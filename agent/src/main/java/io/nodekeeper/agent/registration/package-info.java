/** Creates the agent's Node object, or reconciles one that exists. */
@NullMarked
package io.nodekeeper.agent.registration;

import org.jspecify.annotations.NullMarked;
