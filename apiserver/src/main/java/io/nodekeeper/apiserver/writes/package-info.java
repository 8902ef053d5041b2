/** Handlers of create, update, patch, apply and delete, and the optimistic writes to the store behind them. */
@NullMarked
package io.nodekeeper.apiserver.writes;

import org.jspecify.annotations.NullMarked;
