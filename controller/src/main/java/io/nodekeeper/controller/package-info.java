/**
 * The node lifecycle controller: decides from heartbeats which nodes are alive, and writes their conditions and taints.
 */
@NullMarked
package io.nodekeeper.controller;

import org.jspecify.annotations.NullMarked;
