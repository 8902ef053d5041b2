/** Role-based access control: roles, bindings and the rules in them. Pure. */
@NullMarked
package io.nodekeeper.apiserver.authorization.rbac;

import org.jspecify.annotations.NullMarked;
