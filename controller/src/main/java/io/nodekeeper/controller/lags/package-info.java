/** Measures how late renewals are and how wrong the clocks of nodes; no verdict depends on it. */
@NullMarked
package io.nodekeeper.controller.lags;

import org.jspecify.annotations.NullMarked;
