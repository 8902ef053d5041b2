/** Records what was decided, and why: history, events and metrics of sight. */
@NullMarked
package io.nodekeeper.controller.explain;

import org.jspecify.annotations.NullMarked;
