/** A transport that sends reads only and answers writes itself, for observe mode. */
@NullMarked
package io.nodekeeper.client.shadow;

import org.jspecify.annotations.NullMarked;
