/** Stores the controller's decisions with their times and causes, within limits. */
@NullMarked
package io.nodekeeper.controller.history;

import org.jspecify.annotations.NullMarked;
