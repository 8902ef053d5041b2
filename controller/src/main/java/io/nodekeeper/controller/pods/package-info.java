/** Marks, evicts and collects the pods of failed and deleted nodes, and deletes the leases of deleted nodes. */
@NullMarked
package io.nodekeeper.controller.pods;

import org.jspecify.annotations.NullMarked;
