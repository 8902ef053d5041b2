/** Runs agents, client, API server, store and controller together in virtual time, with faults, repeatable from a seed. */
@NullMarked
package io.nodekeeper.simulator;

import org.jspecify.annotations.NullMarked;
