/** The configuration of the controller, and its feature gates. */
@NullMarked
package io.nodekeeper.controller.config;

import org.jspecify.annotations.NullMarked;
