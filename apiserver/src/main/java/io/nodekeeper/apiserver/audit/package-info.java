/** The audit log: one event per stage of a request, written beside the requests. */
@NullMarked
package io.nodekeeper.apiserver.audit;

import org.jspecify.annotations.NullMarked;
