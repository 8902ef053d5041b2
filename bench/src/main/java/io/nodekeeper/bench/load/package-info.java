/** Load generator that runs a fleet's traffic against an API server over real connections and measures latency and cost. */
@NullMarked
package io.nodekeeper.bench.load;

import org.jspecify.annotations.NullMarked;
