/** Options and value types that several commands use. */
@NullMarked
package io.nodekeeper.cli.options;

import org.jspecify.annotations.NullMarked;
