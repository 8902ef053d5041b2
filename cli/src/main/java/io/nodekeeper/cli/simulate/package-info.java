/** {@code nodekeeper simulate}: runs a simulated cluster. */
@NullMarked
package io.nodekeeper.cli.simulate;

import org.jspecify.annotations.NullMarked;
