/** Makes the taints of nodes agree with their conditions, and writes labels. */
@NullMarked
package io.nodekeeper.controller.taints;

import org.jspecify.annotations.NullMarked;
