/** Requests for certificates (PKCS#10), as they are in CertificateSigningRequests. */
@NullMarked
package io.nodekeeper.client.certificates;

import org.jspecify.annotations.NullMarked;
