/** The logs of containers: reads the runtime's files from a place on, follows them, and writes them as a kubelet does. */
@NullMarked
package io.nodekeeper.agent.logs;

import org.jspecify.annotations.NullMarked;
