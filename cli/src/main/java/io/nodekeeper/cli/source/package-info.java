/** Finds the controller that answers {@code why}, {@code status} and {@code observe-report}: directly, or through the API server's proxy. */
@NullMarked
package io.nodekeeper.cli.source;

import org.jspecify.annotations.NullMarked;
