/** Directories and files that only their owner may read. */
@NullMarked
package io.nodekeeper.client.files;

import org.jspecify.annotations.NullMarked;
