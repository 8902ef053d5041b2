/** Authorization: which requests a user may make, as whom, and which rights a user may grant. */
@NullMarked
package io.nodekeeper.apiserver.authorization;

import org.jspecify.annotations.NullMarked;
