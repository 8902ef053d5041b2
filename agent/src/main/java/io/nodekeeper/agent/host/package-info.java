/** Reads facts about the machine, each with its own deadline, and keeps the newest. */
@NullMarked
package io.nodekeeper.agent.host;

import org.jspecify.annotations.NullMarked;
