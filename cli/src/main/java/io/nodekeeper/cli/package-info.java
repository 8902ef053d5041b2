/** The commands: what people type, checked whole before anything starts, and the wiring of each process. */
@NullMarked
package io.nodekeeper.cli;

import org.jspecify.annotations.NullMarked;
