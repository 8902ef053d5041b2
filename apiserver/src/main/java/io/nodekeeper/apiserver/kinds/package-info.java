/** The strategy of each kind: how its objects are completed, checked and deleted. Pure functions of objects. */
@NullMarked
package io.nodekeeper.apiserver.kinds;

import org.jspecify.annotations.NullMarked;
