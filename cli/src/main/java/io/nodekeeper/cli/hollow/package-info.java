/** {@code nodekeeper hollow-nodes}: its options and the wiring of the process. */
@NullMarked
package io.nodekeeper.cli.hollow;

import org.jspecify.annotations.NullMarked;
