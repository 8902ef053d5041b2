/** The store that keeps its objects, their latest changes and its watchers in memory and writes changes to a journal. */
@NullMarked
package io.nodekeeper.store.memory;

import org.jspecify.annotations.NullMarked;
