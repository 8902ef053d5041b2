/** JSON values, their parser and their writer. */
@NullMarked
package io.nodekeeper.api.json;

import org.jspecify.annotations.NullMarked;
