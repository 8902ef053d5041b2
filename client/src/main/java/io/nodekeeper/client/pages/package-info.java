/** What a process tells whoever asks it over HTTP, whatever serves it. */
@NullMarked
package io.nodekeeper.client.pages;

import org.jspecify.annotations.NullMarked;
