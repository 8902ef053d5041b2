package io.nodekeeper.agent.config;

import java.util.ArrayList;
import java.util.List;

/**
 * Options for the cgroups of pods. Without effect unless the gate {@code PodLifecycle} is on. Immutable.
 *
 * @param perQos whether pods and their classes of service have cgroups of their own ({@code cgroupsPerQOS}, true)
 * @param driver {@code cgroupfs} (default) or {@code systemd}
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
        String driver,
        String root,
        boolean enforces,
        boolean cpuQuota,
        long podPids,
        boolean singleKills,
        int oomScoreAdjust) {
    /** The cgroup of all pods below the root. */
    public static final String PODS = "kubepods";
    /** The driver that writes the files itself. */
    static final String CGROUPFS = "cgroupfs";
    /** The kubelet's own defaults. */
    public static final CgroupConfig DEFAULT = new CgroupConfig(true, CGROUPFS, "/", true, true, -1, false, -999);

    /** The cgroup of all pods, such as {@code /kubepods}. */
    public String pods() {
        return (root.equals("/") ? "" : root) + "/" + PODS;
    }

    /** The same below {@code other}. */
    CgroupConfig below(String other) {
        return new CgroupConfig(perQos, driver, other, enforces, cpuQuota, podPids, singleKills, oomScoreAdjust);
    }

    /** The same with or without cgroups of pods. */
    CgroupConfig perQos(boolean other) {
        return new CgroupConfig(other, driver, root, enforces && other, cpuQuota, podPids, singleKills, oomScoreAdjust);
    }

    /** What of this the agent cannot do if it runs pods, one message each. */
    public List<String> faults() {
        List<String> faults = new ArrayList<>();
        if (perQos && !driver.equals(CGROUPFS)) {
            faults.add("cgroupDriver " + driver + " is not supported by this agent; set it to " + CGROUPFS
                    + ", here and in the container runtime (containerd: SystemdCgroup = false), or set"
                    + " cgroupsPerQOS to false");
        }
        return faults;
    }

    /** Whether {@code root} is an absolute path of a cgroup, without empty parts and dots. */
    public static boolean isRoot(String root) {
        return root.equals("/") || root.matches("(/(?!\\.{1,2}(/|$))[^/\\p{Cntrl}]{1,255}){1,16}");
    }
}
