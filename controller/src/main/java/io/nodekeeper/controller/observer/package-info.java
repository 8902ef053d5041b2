/** What the controller can see, and what waits for a proof of it; without I/O. */
@NullMarked
package io.nodekeeper.controller.observer;

import org.jspecify.annotations.NullMarked;
