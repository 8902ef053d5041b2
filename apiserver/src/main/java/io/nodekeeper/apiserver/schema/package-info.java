/** The schemas of the served kinds, derived from Kubernetes' message types. */
@org.jspecify.annotations.NullMarked
package io.nodekeeper.apiserver.schema;
