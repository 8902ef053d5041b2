/** Measures the lag of renewals and the skew of nodes' clocks. No verdict depends on it. */
@NullMarked
package io.nodekeeper.controller.lags;

import org.jspecify.annotations.NullMarked;
