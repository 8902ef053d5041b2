/** Who may read the pages of a process: the cluster authenticates and authorizes its callers. */
@NullMarked
package io.nodekeeper.client.access;

import org.jspecify.annotations.NullMarked;
