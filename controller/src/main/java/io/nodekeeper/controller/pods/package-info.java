/** What becomes of pods whose node fails or goes: marked, evicted, collected; and of the leases of nodes that are gone. */
@NullMarked
package io.nodekeeper.controller.pods;

import org.jspecify.annotations.NullMarked;
