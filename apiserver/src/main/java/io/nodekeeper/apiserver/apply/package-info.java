/** Server-side apply: the owners of an object's fields, and the merge of an applied object. Pure. */
@NullMarked
package io.nodekeeper.apiserver.apply;

import org.jspecify.annotations.NullMarked;
