/** How much a process ran and how much it waited for a processor: what distinguishes a busy process from a hung one. */
@NullMarked
package io.nodekeeper.agent.culprit.load;

import org.jspecify.annotations.NullMarked;
