/** Who may do what, as pure decisions: roles and their bindings, nodes and what belongs to them, and the tokens of service accounts. */
@NullMarked
package io.nodekeeper.apiserver.access;

import org.jspecify.annotations.NullMarked;
