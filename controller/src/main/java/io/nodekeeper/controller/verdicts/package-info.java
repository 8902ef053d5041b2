/** Decides whether nodes whose deadline has passed are Unknown, and writes the verdicts. */
@NullMarked
package io.nodekeeper.controller.verdicts;

import org.jspecify.annotations.NullMarked;
