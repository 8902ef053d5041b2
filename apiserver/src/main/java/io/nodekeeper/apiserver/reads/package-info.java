/** Handlers of get and list, and lists that are written in chunks. */
@NullMarked
package io.nodekeeper.apiserver.reads;

import org.jspecify.annotations.NullMarked;
