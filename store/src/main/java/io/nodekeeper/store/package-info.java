/** Objects with revisions, a window of their latest changes to watch, and journals that make them survive. */
@NullMarked
package io.nodekeeper.store;

import org.jspecify.annotations.NullMarked;
