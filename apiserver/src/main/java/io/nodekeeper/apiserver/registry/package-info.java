/** The description of a resource: type, schema, stored form, table and rules; and the rules of all objects' metadata. */
@NullMarked
package io.nodekeeper.apiserver.registry;

import org.jspecify.annotations.NullMarked;
