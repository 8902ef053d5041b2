/** The oracle of a simulated cluster: records faults and what the API shows, and checks the rules between the two. */
@NullMarked
package io.nodekeeper.simulator.oracle;

import org.jspecify.annotations.NullMarked;
