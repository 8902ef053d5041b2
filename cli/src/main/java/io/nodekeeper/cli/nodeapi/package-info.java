/** Serves the node's API of an agent over HTTPS, on the kubelet's port. */
@NullMarked
package io.nodekeeper.cli.nodeapi;

import org.jspecify.annotations.NullMarked;
