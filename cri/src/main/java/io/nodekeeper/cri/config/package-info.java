/** The configurations of new sandboxes and containers, as values. */
@NullMarked
package io.nodekeeper.cri.config;

import org.jspecify.annotations.NullMarked;
