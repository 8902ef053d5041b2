/** The controller as a mere observer: what it would have done, beside what the cluster's own controller did. */
@NullMarked
package io.nodekeeper.controller.observe;

import org.jspecify.annotations.NullMarked;
