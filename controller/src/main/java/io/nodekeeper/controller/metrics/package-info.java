/** What the controller tells Prometheus. */
@NullMarked
package io.nodekeeper.controller.metrics;

import org.jspecify.annotations.NullMarked;
