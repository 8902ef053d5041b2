/** Applies remedies for culprits: plans them, checks before each that it can hit nothing else, and verifies its effect. */
@NullMarked
package io.nodekeeper.agent.culprit.repair;

import org.jspecify.annotations.NullMarked;
