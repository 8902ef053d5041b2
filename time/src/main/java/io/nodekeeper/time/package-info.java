/** The only home of real clocks, timers, threads and randomness; everything else receives them as arguments. */
@NullMarked
package io.nodekeeper.time;

import org.jspecify.annotations.NullMarked;
