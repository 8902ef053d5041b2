/** Content negotiation: which media type and form a client accepts, and responses in that form. */
@NullMarked
package io.nodekeeper.apiserver.negotiation;

import org.jspecify.annotations.NullMarked;
