/** Authentication: who makes a request, by client certificate, static token or service account token. */
@NullMarked
package io.nodekeeper.apiserver.authentication;

import org.jspecify.annotations.NullMarked;
