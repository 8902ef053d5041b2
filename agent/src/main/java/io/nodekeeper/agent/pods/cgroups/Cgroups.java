package io.nodekeeper.agent.pods.cgroups;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/**
 * Makes and removes cgroups, which have the same names for each driver, such as {@code /kubepods/burstable/podUID}. All methods
 * block; thread-safe.
 */
interface Cgroups {
    /** Where the hierarchies are mounted. */
    Path directory();

    /** 1 or 2. */
    int version();

    /** Fails if something is missing that limits need. */
    void check() throws IOException;

    /** Where {@code cgroup} is below each hierarchy. */
    String place(String cgroup);

    /** Whether {@code cgroup} is in all hierarchies in which cgroups are made. */
    boolean exists(String cgroup) throws IOException;

    /** Makes {@code cgroup} and those above it, with all controllers; keeps what is there. */
    void make(String cgroup) throws IOException;

    /** Gives {@code cgroup} its limits, all of them even if one fails; then fails with the first error. */
    void limit(String cgroup, CgroupLimits limits) throws IOException;

    /** The names of the cgroups directly in {@code cgroup} that begin with {@code prefix}, in any hierarchy. */
    Set<String> names(String cgroup, String prefix) throws IOException;

    /**
     * Kills all processes of {@code cgroup} and those below it, and removes them from all hierarchies.
     *
     * @throws IOException if something is left, such as a killed process that has not ended; to be tried again
     */
    void remove(String cgroup) throws IOException;
}
