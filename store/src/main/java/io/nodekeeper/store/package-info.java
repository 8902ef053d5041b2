/** The store's contract: objects with revisions, their changes and watches, and the journal that makes changes durable. */
@NullMarked
package io.nodekeeper.store;

import org.jspecify.annotations.NullMarked;
