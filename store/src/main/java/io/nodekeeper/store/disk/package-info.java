/** The journal in RocksDB: the format of its rows, how a start checks its files, and how damaged files are repaired. */
@NullMarked
package io.nodekeeper.store.disk;

import org.jspecify.annotations.NullMarked;
