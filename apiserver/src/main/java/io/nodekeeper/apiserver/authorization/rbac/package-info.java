/** Role-based access control: roles, bindings, the rules in them and the decision that follows. Pure. */
@NullMarked
package io.nodekeeper.apiserver.authorization.rbac;

import org.jspecify.annotations.NullMarked;
