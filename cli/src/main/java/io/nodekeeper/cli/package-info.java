/** The entry point {@link io.nodekeeper.cli.Main} and the list of all commands; each command is a package of its own. */
@NullMarked
package io.nodekeeper.cli;

import org.jspecify.annotations.NullMarked;
