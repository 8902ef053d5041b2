/** The report of an observation: what the differences that the history has mean, in numbers and sentences. */
@NullMarked
package io.nodekeeper.controller.observe.report;

import org.jspecify.annotations.NullMarked;
