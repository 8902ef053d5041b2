/** Requests that a pod's node answers: logs, commands in containers, and forwarded ports. */
@NullMarked
package io.nodekeeper.apiserver.nodecalls;

import org.jspecify.annotations.NullMarked;
