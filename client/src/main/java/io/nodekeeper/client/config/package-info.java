/** How a client reaches an API server: kubeconfigs, in-cluster configuration, keys, certificates, tokens and TLS. */
@NullMarked
package io.nodekeeper.client.config;

import org.jspecify.annotations.NullMarked;
