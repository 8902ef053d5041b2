/** Admission: what is added to new objects, and which writes are refused, after authorization and before storage. */
@NullMarked
package io.nodekeeper.apiserver.admission;

import org.jspecify.annotations.NullMarked;
