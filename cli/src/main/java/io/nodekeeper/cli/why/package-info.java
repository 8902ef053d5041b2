/** {@code nodekeeper why}: collects what is known of a node and explains its state. */
@NullMarked
package io.nodekeeper.cli.why;

import org.jspecify.annotations.NullMarked;
