/** Summarizes the state of the fleet for one screen. */
@NullMarked
package io.nodekeeper.controller.status;

import org.jspecify.annotations.NullMarked;
