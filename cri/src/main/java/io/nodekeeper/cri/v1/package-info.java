/** The messages and stubs of CRI v1, generated from cri.proto. */
@NullMarked
package io.nodekeeper.cri.v1;

import org.jspecify.annotations.NullMarked;
