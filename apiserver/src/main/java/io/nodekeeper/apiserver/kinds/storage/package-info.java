/** The rules of persistent volumes, their claims and classes. */
@NullMarked
package io.nodekeeper.apiserver.kinds.storage;

import org.jspecify.annotations.NullMarked;
