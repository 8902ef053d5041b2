/** Generated faults on a real container runtime: what is struck, what the agent names, and what the remedies do. */
@NullMarked
package io.nodekeeper.it.faults;

import org.jspecify.annotations.NullMarked;
