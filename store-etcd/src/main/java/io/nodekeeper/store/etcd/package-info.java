/** The store on an etcd cluster, which others may read and write as well. */
@NullMarked
package io.nodekeeper.store.etcd;

import org.jspecify.annotations.NullMarked;
