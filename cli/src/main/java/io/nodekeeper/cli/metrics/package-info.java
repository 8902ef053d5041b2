/** Metrics of the process: its build, its memory and its threads. */
@NullMarked
package io.nodekeeper.cli.metrics;

import org.jspecify.annotations.NullMarked;
