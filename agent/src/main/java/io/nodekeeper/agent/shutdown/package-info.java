/** Lets pods end before the machine does: delays its shutdown and ends them in groups. */
@NullMarked
package io.nodekeeper.agent.shutdown;

import org.jspecify.annotations.NullMarked;
