/** What all commands share: parsing and checking of the command line, exit codes and error messages. */
@NullMarked
package io.nodekeeper.cli.command;

import org.jspecify.annotations.NullMarked;
