/** {@code nodekeeper certs}, and the certificate authority, certificates and kubeconfigs in a data directory. */
@NullMarked
package io.nodekeeper.cli.certs;

import org.jspecify.annotations.NullMarked;
