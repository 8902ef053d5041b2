/** HTTP pages of a process, independent of the server that serves them. */
@NullMarked
package io.nodekeeper.client.pages;

import org.jspecify.annotations.NullMarked;
