package io.nodekeeper.agent.config;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Options for the cgroups of pods. Without effect unless the gate {@code PodLifecycle} is on. Immutable.
 *
 * @param perQos whether pods and their classes of service have cgroups of their own ({@code cgroupsPerQOS}, true)
 * @param driver who makes them ({@code cgroupDriver}, {@code cgroupfs})
 * @param root the cgroup below which {@code kubepods} is, with a slash at the beginning ({@code cgroupRoot}, {@code /})
 * @param enforces whether {@code kubepods} is limited to what is not reserved ({@code enforceNodeAllocatable} has {@code pods})
 * @param cpuQuota whether limits of processor time are quotas ({@code cpuCFSQuota}, true)
 * @param podPids the most processes of a pod; less than 1 for no limit ({@code podPidsLimit}, -1)
 * @param singleKills whether the kernel kills one process alone of a container for lack of memory ({@code
 *     singleProcessOOMKill}, false; version 1 of cgroups always does)
 * @param oomScoreAdjust of the agent itself ({@code oomScoreAdj}, -999)
 */
public record CgroupConfig(
        boolean perQos,
        CgroupDriver driver,
        String root,
        boolean enforces,
        boolean cpuQuota,
        long podPids,
        boolean singleKills,
        int oomScoreAdjust) {
    /** The cgroup of all pods below the root. */
    public static final String PODS = "kubepods";
    /** The kubelet's own defaults. */
    public static final CgroupConfig DEFAULT =
            new CgroupConfig(true, CgroupDriver.CGROUPFS, "/", true, true, -1, false, -999);

    /** The cgroup of all pods, such as {@code /kubepods}; a name that its driver places. */
    public String pods() {
        return (root.equals("/") ? "" : root) + "/" + PODS;
    }

    /** Where the cgroup of all pods may be: with this driver, or with the other one, which a kubelet may have. */
    public List<String> places() {
        return Stream.concat(Stream.of(driver), Arrays.stream(CgroupDriver.values()))
                .distinct()
                .map(each -> each.place(pods()))
                .toList();
    }

    /** The same below {@code other}. */
    CgroupConfig below(String other) {
        return new CgroupConfig(perQos, driver, other, enforces, cpuQuota, podPids, singleKills, oomScoreAdjust);
    }

    /** The same with or without cgroups of pods. */
    CgroupConfig perQos(boolean other) {
        return new CgroupConfig(other, driver, root, enforces && other, cpuQuota, podPids, singleKills, oomScoreAdjust);
    }

    /** Whether {@code root} is an absolute path of a cgroup, without empty parts and dots. */
    public static boolean isRoot(String root) {
        return root.equals("/") || root.matches("(/(?!\\.{1,2}(/|$))[^/\\p{Cntrl}]{1,255}){1,16}");
    }
}
