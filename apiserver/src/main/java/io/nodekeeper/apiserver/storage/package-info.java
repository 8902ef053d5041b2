/** The stored form of objects, and how the server follows changes in the store. */
@NullMarked
package io.nodekeeper.apiserver.storage;

import org.jspecify.annotations.NullMarked;
