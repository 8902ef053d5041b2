/** Which resources are stored encrypted, and with which keys, as Kubernetes' EncryptionConfiguration says it. */
@NullMarked
package io.nodekeeper.apiserver.encryption;

import org.jspecify.annotations.NullMarked;
