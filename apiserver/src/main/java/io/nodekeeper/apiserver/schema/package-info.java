/** The types of the served kinds, made from Kubernetes' message types. */
@org.jspecify.annotations.NullMarked
package io.nodekeeper.apiserver.schema;
