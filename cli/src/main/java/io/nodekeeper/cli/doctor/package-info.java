/** {@code nodekeeper doctor}: examines the container runtime of this node. */
@NullMarked
package io.nodekeeper.cli.doctor;

import org.jspecify.annotations.NullMarked;
