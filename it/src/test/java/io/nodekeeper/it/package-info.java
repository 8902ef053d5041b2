/** The distribution as users run it: real processes, the real kubectl, real signals. */
@NullMarked
package io.nodekeeper.it;

import org.jspecify.annotations.NullMarked;
