/** What the controller tells people who ask it over HTTP: health, metrics, nodes and decisions. */
@NullMarked
package io.nodekeeper.controller.debug;

import org.jspecify.annotations.NullMarked;
