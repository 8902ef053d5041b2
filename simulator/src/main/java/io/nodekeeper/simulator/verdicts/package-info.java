/** What a simulated controller decided about nodes, whether they came back, and how reports show that. */
@NullMarked
package io.nodekeeper.simulator.verdicts;

import org.jspecify.annotations.NullMarked;
