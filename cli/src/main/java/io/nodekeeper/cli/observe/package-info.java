/** {@code nodekeeper observe-report}: where a controller in observe mode and the cluster's own one differed. */
@NullMarked
package io.nodekeeper.cli.observe;

import org.jspecify.annotations.NullMarked;
