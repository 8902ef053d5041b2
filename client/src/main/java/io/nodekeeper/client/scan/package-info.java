/** Reads lease renewals from the bytes of a watch, without allocating objects. */
@NullMarked
package io.nodekeeper.client.scan;

import org.jspecify.annotations.NullMarked;
