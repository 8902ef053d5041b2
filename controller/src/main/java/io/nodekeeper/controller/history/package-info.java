/** What the controller decided, when and why: kept, bounded, for those who ask later. */
@NullMarked
package io.nodekeeper.controller.history;

import org.jspecify.annotations.NullMarked;
