/** How far a long task is: what is shown, when and where, and how long the rest takes. */
@NullMarked
package io.nodekeeper.time.progress;

import org.jspecify.annotations.NullMarked;
