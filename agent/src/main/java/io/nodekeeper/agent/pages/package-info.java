/** What the agent tells people who ask it over HTTP: health, metrics, and what it knows of its runtime. */
@NullMarked
package io.nodekeeper.agent.pages;

import org.jspecify.annotations.NullMarked;
