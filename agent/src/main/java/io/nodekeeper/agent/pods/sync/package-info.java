/** Decides what must be done for one pod, from what is wanted and what the runtime shows. Pure. */
@NullMarked
package io.nodekeeper.agent.pods.sync;

import org.jspecify.annotations.NullMarked;
