/** What the HTTP/1.1 servers of the processes share: the time limits of a connection, and how it continues after a response. */
@NullMarked
package io.nodekeeper.cli.http;

import org.jspecify.annotations.NullMarked;
