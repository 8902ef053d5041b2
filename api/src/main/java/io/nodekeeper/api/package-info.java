/** Kubernetes objects as immutable values over JSON, and the rules of the API that need nothing but the objects. */
@NullMarked
package io.nodekeeper.api;

import org.jspecify.annotations.NullMarked;
