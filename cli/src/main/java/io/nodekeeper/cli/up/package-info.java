/** {@code nodekeeper up}: API server, controller and agent in one process. */
@NullMarked
package io.nodekeeper.cli.up;

import org.jspecify.annotations.NullMarked;
