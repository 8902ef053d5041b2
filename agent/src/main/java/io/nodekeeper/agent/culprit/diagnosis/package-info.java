/** Decides from observed processes and call outcomes what hangs; pure, without files, calls or clocks. */
@NullMarked
package io.nodekeeper.agent.culprit.diagnosis;

import org.jspecify.annotations.NullMarked;
