/** Probes whether pods can get a network now, by setting up and tearing down a test sandbox at an interval. */
@NullMarked
package io.nodekeeper.agent.network;

import org.jspecify.annotations.NullMarked;
