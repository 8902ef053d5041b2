/** Server-side apply: who owns which field of an object, and what becomes of the object when one of them applies. Pure. */
@NullMarked
package io.nodekeeper.apiserver.apply;

import org.jspecify.annotations.NullMarked;
