/** What a resource is: its type, schema, stored form, table and rules, and the rules of the metadata of all objects. */
@NullMarked
package io.nodekeeper.apiserver.registry;

import org.jspecify.annotations.NullMarked;
