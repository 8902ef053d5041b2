/**
 * Runs agents, client, API server, store and controller together in virtual time, with faults. A seed determines the
 * whole run.
 */
@NullMarked
package io.nodekeeper.simulator;

import org.jspecify.annotations.NullMarked;
