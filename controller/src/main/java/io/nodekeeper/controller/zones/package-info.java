/** Zones: how many nodes of each may get a NoExecute taint, and when. */
@NullMarked
package io.nodekeeper.controller.zones;

import org.jspecify.annotations.NullMarked;
