/** Asks gRPC servers of pods for their health. */
@NullMarked
package io.nodekeeper.cri.health;

import org.jspecify.annotations.NullMarked;
