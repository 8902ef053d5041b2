/**
 * JSON values, their parser and their writer. The kinds of values form a circle on purpose: a sealed interface names its
 * kinds, and objects and arrays contain values and are written as text.
 */
@NullMarked
package io.nodekeeper.api.json;

import org.jspecify.annotations.NullMarked;
