/** The controller's Prometheus metrics. */
@NullMarked
package io.nodekeeper.controller.metrics;

import org.jspecify.annotations.NullMarked;
