/** The system bus, and systemd as the manager of the machine's units. */
@NullMarked
package io.nodekeeper.agent.systemd;

import org.jspecify.annotations.NullMarked;
