/** {@code nodekeeper tune}: compares configurations on the same faults. */
@NullMarked
package io.nodekeeper.cli.tune;

import org.jspecify.annotations.NullMarked;
