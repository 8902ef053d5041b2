/** Leader election on a Lease, compatible with client-go's leaderelection package. */
@NullMarked
package io.nodekeeper.client.leaderelection;

import org.jspecify.annotations.NullMarked;
