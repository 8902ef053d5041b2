/** Handlers of watch. */
@NullMarked
package io.nodekeeper.apiserver.watches;

import org.jspecify.annotations.NullMarked;
