/** Reads, checks and changes fields of JSON objects by path. */
@NullMarked
package io.nodekeeper.apiserver.fields;

import org.jspecify.annotations.NullMarked;
