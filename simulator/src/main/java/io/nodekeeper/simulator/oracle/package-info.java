/** The judge of a simulated cluster: what was done to it, what the API shows, and the rules that must hold between the two. */
@NullMarked
package io.nodekeeper.simulator.oracle;

import org.jspecify.annotations.NullMarked;
