/** The model of requests and responses: what the transport hands to the API server and gets back. */
@NullMarked
package io.nodekeeper.apiserver.request;

import org.jspecify.annotations.NullMarked;
