/** The configuration of encryption at rest: Kubernetes' EncryptionConfiguration. */
@NullMarked
package io.nodekeeper.apiserver.encryption;

import org.jspecify.annotations.NullMarked;
