/** Checks of the node besides what hangs below its container runtime. */
@NullMarked
package io.nodekeeper.cli.doctor.node;

import org.jspecify.annotations.NullMarked;
