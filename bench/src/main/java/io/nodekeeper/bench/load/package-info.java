/** Puts an API server under the load of a fleet, over real connections, and measures what comes of it. */
@NullMarked
package io.nodekeeper.bench.load;

import org.jspecify.annotations.NullMarked;
