/** Processors that guaranteed pods have for themselves, and those that all others share. */
@NullMarked
package io.nodekeeper.agent.pods.cpus;

import org.jspecify.annotations.NullMarked;
