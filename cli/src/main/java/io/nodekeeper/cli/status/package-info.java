/** {@code nodekeeper status}: the fleet on one screen. */
@NullMarked
package io.nodekeeper.cli.status;

import org.jspecify.annotations.NullMarked;
