/** Tables: the columns that {@code kubectl get} prints for each kind. */
@NullMarked
package io.nodekeeper.apiserver.printers;

import org.jspecify.annotations.NullMarked;
