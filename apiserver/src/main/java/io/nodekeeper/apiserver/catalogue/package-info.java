/** The resources that the server serves, and which of them a request is about. */
@NullMarked
package io.nodekeeper.apiserver.catalogue;

import org.jspecify.annotations.NullMarked;
