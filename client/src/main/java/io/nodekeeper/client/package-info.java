/** How a process talks to a Kubernetes API server: calls with deadlines, watches that survive, events, credentials. */
@NullMarked
package io.nodekeeper.client;

import org.jspecify.annotations.NullMarked;
