/** The commands on a stored database: check, repair, restore, rewrite and snapshot. */
@NullMarked
package io.nodekeeper.cli.store;

import org.jspecify.annotations.NullMarked;
