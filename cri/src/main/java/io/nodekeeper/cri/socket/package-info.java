/** A unix-domain connection as a socket of {@code java.net}. */
@NullMarked
package io.nodekeeper.cri.socket;

import org.jspecify.annotations.NullMarked;
