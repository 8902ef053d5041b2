package io.nodekeeper.agent.pods.cgroups;

import io.nodekeeper.agent.config.CgroupConfig;
import io.nodekeeper.agent.config.CgroupDriver;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.QosClass;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Names the cgroups of pods as a kubelet does. Immutable.
 *
 * @param driver who makes them
 * @param all the cgroup of all pods, such as {@code /kubepods}; empty if pods have no cgroups of their own
 * @param cpuQuota whether limits of processor time are quotas
 * @param killsTogether whether the kernel kills all processes of a container if it kills one for lack of memory
 */
public record PodParent(CgroupDriver driver, Optional<String> all, boolean cpuQuota, boolean killsTogether) {
    /** Pods without cgroups of their own: the runtime chooses. */
    public static final PodParent NONE = new PodParent(CgroupDriver.CGROUPFS, Optional.empty(), true, false);

    static final String POD = "pod";
    /** A UID is part of a path; that of a static pod is what its manifest says. */
    private static final Pattern UID = Pattern.compile("[-A-Za-z0-9_.]{1,200}");

    /** What {@code config} leads to on a machine with version 1 or 2 of cgroups. */
    public static PodParent of(CgroupConfig config, int version) {
        return new PodParent(
                config.driver(),
                config.perQos() ? Optional.of(config.pods()) : Optional.empty(),
                config.cpuQuota(),
                version == 2 && !config.singleKills());
    }

    /**
     * Where the cgroup of {@code pod} is, the parent of those of its containers; empty if the runtime chooses.
     *
     * @throws IllegalArgumentException if its UID cannot be part of a path
     */
    public String of(Pod pod) {
        return all.isEmpty() ? "" : driver.place(name(pod));
    }

    /** The name of the cgroup of {@code pod}, which the driver places; there must be cgroups of pods. */
    String name(Pod pod) {
        return ofClass(all.orElseThrow(), QosClass.of(pod.spec())) + "/" + POD + checked(pod.uid());
    }

    /** The cgroup of a class; guaranteed pods are directly in that of all pods. */
    static String ofClass(String all, QosClass qos) {
        return switch (qos) {
            case GUARANTEED -> all;
            case BURSTABLE -> all + "/burstable";
            case BEST_EFFORT -> all + "/besteffort";
        };
    }

    /** Whether {@code uid} can be part of a path, and can be read from it again. */
    boolean isPart(String uid) {
        return UID.matcher(uid).matches() && (driver != CgroupDriver.SYSTEMD || !uid.contains("_"));
    }

    private String checked(String uid) {
        if (!isPart(uid)) {
            String more = driver == CgroupDriver.SYSTEMD ? "" : ", '_'";
            throw new IllegalArgumentException(
                    "the UID of a pod with a cgroup must consist of 1 to 200 letters, digits," + " '-'" + more
                            + " and '.', got \"" + uid + "\"");
        }
        return uid;
    }
}
