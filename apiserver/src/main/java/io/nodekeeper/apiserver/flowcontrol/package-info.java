/** Flow control: how many requests are served at a time, and how users share the server fairly. */
@NullMarked
package io.nodekeeper.apiserver.flowcontrol;

import org.jspecify.annotations.NullMarked;
