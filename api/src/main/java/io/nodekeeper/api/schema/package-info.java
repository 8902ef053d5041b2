/** Schemas of objects: which fields each kind has, their types, and how lists are merged. */
@NullMarked
package io.nodekeeper.api.schema;

import org.jspecify.annotations.NullMarked;
