/** {@code nodekeeper replay}: records the heartbeats of a cluster, and lets a controller judge them again. */
@NullMarked
package io.nodekeeper.cli.replay;

import org.jspecify.annotations.NullMarked;
