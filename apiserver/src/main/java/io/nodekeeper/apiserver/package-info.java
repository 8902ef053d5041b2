/** The Kubernetes API as a core of pure request handling: who may do what, to which objects, and what they then look like. */
@NullMarked
package io.nodekeeper.apiserver;

import org.jspecify.annotations.NullMarked;
