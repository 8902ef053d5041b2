/** Proves that the controller sees what is stored: sends canaries, lists leases and restarts stalled watches. */
@NullMarked
package io.nodekeeper.controller.canary;

import org.jspecify.annotations.NullMarked;
