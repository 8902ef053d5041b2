/** The web page of the controller: its files, the data of one node's timeline, and the stream of the fleet's changes. */
@NullMarked
package io.nodekeeper.cli.ui;

import org.jspecify.annotations.NullMarked;
