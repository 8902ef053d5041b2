/** Documents that describe the API: discovery, OpenAPI and the version. */
@NullMarked
package io.nodekeeper.apiserver.discovery;

import org.jspecify.annotations.NullMarked;
