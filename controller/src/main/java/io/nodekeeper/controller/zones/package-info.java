/** Decides for each zone how many of its nodes may get a NoExecute taint, and when. */
@NullMarked
package io.nodekeeper.controller.zones;

import org.jspecify.annotations.NullMarked;
