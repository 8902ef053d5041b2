/** Writes files atomically with the right mode, and describes file errors. */
@NullMarked
package io.nodekeeper.cli.files;

import org.jspecify.annotations.NullMarked;
