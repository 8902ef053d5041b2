/** The client of a Kubernetes API server: calls with deadlines, watches that reconnect, events, credentials. */
@NullMarked
package io.nodekeeper.client;

import org.jspecify.annotations.NullMarked;
