/** Proves that the controller sees what is stored: sends canaries, lists leases, opens watches again. */
@NullMarked
package io.nodekeeper.controller.canary;

import org.jspecify.annotations.NullMarked;
