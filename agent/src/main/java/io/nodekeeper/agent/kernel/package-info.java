/** Calls the kernel, and reads files that it generates, below {@code /proc} and {@code /sys}, such as mount tables. */
@NullMarked
package io.nodekeeper.agent.kernel;

import org.jspecify.annotations.NullMarked;
