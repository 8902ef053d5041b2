/** Creates directories and files that only their owner can access, and reads small files. */
@NullMarked
package io.nodekeeper.client.files;

import org.jspecify.annotations.NullMarked;
