/** The store on an etcd cluster, which other servers may read and write, too. */
@NullMarked
package io.nodekeeper.store.etcd;

import org.jspecify.annotations.NullMarked;
