/** Judges nodes whose deadline has passed. */
@NullMarked
package io.nodekeeper.controller.verdicts;

import org.jspecify.annotations.NullMarked;
