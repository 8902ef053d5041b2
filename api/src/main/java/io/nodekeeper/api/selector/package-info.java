/** Label selectors and field selectors. */
@NullMarked
package io.nodekeeper.api.selector;

import org.jspecify.annotations.NullMarked;
