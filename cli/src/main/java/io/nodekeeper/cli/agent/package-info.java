/** {@code nodekeeper agent}: its options and the wiring of the agent process. */
@NullMarked
package io.nodekeeper.cli.agent;

import org.jspecify.annotations.NullMarked;
