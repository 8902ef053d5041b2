/** Encryption of stored values, in the form in which a kube-apiserver keeps them in etcd. */
@NullMarked
package io.nodekeeper.store.encryption;

import org.jspecify.annotations.NullMarked;
