/** {@code nodekeeper apiserver}: its options and the wiring of the server process. */
@NullMarked
package io.nodekeeper.cli.apiserver;

import org.jspecify.annotations.NullMarked;
