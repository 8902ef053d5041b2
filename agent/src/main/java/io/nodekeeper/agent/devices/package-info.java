/** Devices of plugins: their registration, which of them are healthy, and which containers have them. */
@NullMarked
package io.nodekeeper.agent.devices;

import org.jspecify.annotations.NullMarked;
