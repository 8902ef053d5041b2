/** {@code nodekeeper completion}: scripts that complete the command line in shells. */
@NullMarked
package io.nodekeeper.cli.completion;

import org.jspecify.annotations.NullMarked;
