/** The simulated network between the API server and its clients. */
@NullMarked
package io.nodekeeper.simulator.network;

import org.jspecify.annotations.NullMarked;
