/** What a simulated controller decided about nodes, and whether they came back. */
@NullMarked
package io.nodekeeper.simulator.verdicts;

import org.jspecify.annotations.NullMarked;
