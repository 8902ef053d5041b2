/** systemd as the manager of the machine's units, by D-Bus. */
@NullMarked
package io.nodekeeper.agent.systemd;

import org.jspecify.annotations.NullMarked;
