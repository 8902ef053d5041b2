/**
 * Requests that do something instead of storing the object that was sent: evictions, bindings, token requests and
 * reviews.
 */
@NullMarked
package io.nodekeeper.apiserver.actions;

import org.jspecify.annotations.NullMarked;
