/** Finds two machines that report under the same node name. */
@NullMarked
package io.nodekeeper.controller.duplicates;

import org.jspecify.annotations.NullMarked;
