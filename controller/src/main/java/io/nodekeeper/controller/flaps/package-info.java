/** Damps nodes that become NotReady and Ready too often. */
@NullMarked
package io.nodekeeper.controller.flaps;

import org.jspecify.annotations.NullMarked;
