/** Serves the pages of a controller or an agent over HTTP. */
@NullMarked
package io.nodekeeper.cli.pages;

import org.jspecify.annotations.NullMarked;
