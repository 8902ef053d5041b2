/** Rules in node-problem-detector's format that turn kernel log messages into events and conditions; pure. */
@NullMarked
package io.nodekeeper.agent.problems.rules;

import org.jspecify.annotations.NullMarked;
