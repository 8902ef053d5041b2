/** The strategies of workloads: kinds with a template of pods, which controllers make pods of. Pure functions of objects. */
@NullMarked
package io.nodekeeper.apiserver.kinds.workloads;

import org.jspecify.annotations.NullMarked;
