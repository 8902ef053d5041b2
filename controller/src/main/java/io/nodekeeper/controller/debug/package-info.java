/** Serves the controller's HTTP pages: health, metrics, nodes and decisions. */
@NullMarked
package io.nodekeeper.controller.debug;

import org.jspecify.annotations.NullMarked;
