package io.nodekeeper.agent.pods.cgroups;

import io.nodekeeper.agent.config.CgroupConfig;
import io.nodekeeper.agent.config.CgroupDriver;
import io.nodekeeper.agent.facts.Capacity;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.systemd.SystemBus;
import io.nodekeeper.agent.systemd.SystemdUnits;
import io.nodekeeper.api.QosClass;
import io.nodekeeper.api.Quantity;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The cgroups of one node's pods: one for all pods, two classes of service in it, and one for each pod, as a kubelet makes them.
 * It touches nothing beside that of all pods. All methods block; thread-safe.
 */
public final class PodCgroups {
    private static final List<QosClass> CLASSES =
            List.of(QosClass.GUARANTEED, QosClass.BURSTABLE, QosClass.BEST_EFFORT);

    private final Cgroups tree;
    private final CgroupConfig config;
    private final PodParent names;
    private final String all;
    private final CgroupLimits node;

    /**
     * The cgroups of a node, which are not made yet. With the driver systemd they are made by the one of this machine.
     *
     * @param root {@code /}, or a copy of the kernel's files for tests
     * @param reserved what pods may not use, each amount by its resource; counted if {@code config} enforces it
     */
    public PodCgroups(Path root, CgroupConfig config, Capacity capacity, List<Map<String, Quantity>> reserved) {
        CgroupTree files = CgroupTree.below(root);
        tree = config.driver() == CgroupDriver.SYSTEMD
                ? new SystemdCgroups(files, new SystemdUnits(SystemBus.address()))
                : files;
        this.config = config;
        names = PodParent.of(config, tree.version());
        all = config.pods();
        List<Map<String, Quantity>> kept = config.enforces() ? reserved : List.of();
        long processors = capacity.processors() * 1_000L - sum(kept, "cpu").toMillis();
        node = new CgroupLimits(
                OptionalLong.of(CpuAmounts.shares(Math.max(0, processors))),
                OptionalLong.empty(),
                OptionalLong.of(
                        Math.max(0, capacity.memory() - sum(kept, "memory").toLong())),
                OptionalLong.of(
                        Math.max(1, capacity.processes() - sum(kept, "pid").toLong())),
                Optional.empty(),
                false);
    }

    /** Why pods cannot have what is left of {@code capacity}, as a kubelet says it: one message for each resource. */
    public static List<String> faults(Capacity capacity, List<Map<String, Quantity>> reserved) {
        Map<String, Quantity> all = new TreeMap<>(Map.of(
                "cpu", Quantity.of(capacity.processors()),
                "memory", Quantity.ofBytes(capacity.memory()),
                "pid", Quantity.of(capacity.processes())));
        List<String> faults = new ArrayList<>();
        all.forEach((resource, amount) -> {
            Quantity kept = sum(reserved, resource);
            if (kept.compareTo(amount) > 0) {
                faults.add("invalid Node Allocatable configuration. Resource \"" + resource + "\" has a reservation of "
                        + kept + " but capacity of " + amount + ". Expected capacity >= reservation.");
            }
        });
        return faults;
    }

    private static Quantity sum(List<Map<String, Quantity>> reserved, String resource) {
        return reserved.stream()
                .map(part -> part.getOrDefault(resource, Quantity.ZERO))
                .reduce(Quantity.ZERO, Quantity::plus);
    }

    /**
     * Makes the cgroups of all pods and of the classes; keeps what is there.
     *
     * @throws IOException if that is not possible on this machine; the message says what can be done
     */
    public void makeNode() throws IOException {
        try {
            tree.check();
            if (!config.root().equals("/") && !tree.exists(config.root())) {
                throw new IOException(
                        "cgroupRoot " + tree.place(config.root()) + " does not exist below " + tree.directory());
            }
            for (QosClass qos : CLASSES) {
                tree.make(PodParent.ofClass(all, qos));
            }
            tree.limit(PodParent.ofClass(all, QosClass.BEST_EFFORT), CgroupLimits.ofShares(CpuAmounts.LEAST_SHARES));
        } catch (IOException e) {
            // Without a reason the message is only a path.
            boolean bare = e instanceof FileSystemException file && file.getReason() == null;
            throw new IOException(
                    "cgroups of pods cannot be made: " + (bare ? e : e.getMessage())
                            + "; give the agent a writable cgroup file system (in a container: privileges and the"
                            + " host's /sys/fs/cgroup), or set cgroupsPerQOS to false and enforceNodeAllocatable to []"
                            + " to run pods without limits of the node",
                    e);
        }
    }

    /**
     * Limits all pods together to what is not reserved.
     *
     * @throws IOException if the kernel refuses a limit, such as one below what pods use now
     */
    public void limitNode() throws IOException {
        tree.make(all);
        tree.limit(all, node);
    }

    /** Gives the burstable pods together the weight of what {@code pods} request. */
    public void weigh(List<Pod> pods) throws IOException {
        String burstable = PodParent.ofClass(all, QosClass.BURSTABLE);
        tree.make(burstable);
        tree.limit(burstable, CgroupLimits.ofShares(CgroupLimits.burstableShares(pods)));
    }

    /**
     * Makes the cgroup of {@code pod} with its limits, also if it is there already: an earlier try may have failed in between.
     *
     * @throws IllegalArgumentException if its UID cannot be part of a path
     */
    public void make(Pod pod) throws IOException {
        String cgroup = names.name(pod);
        tree.make(cgroup);
        tree.limit(cgroup, CgroupLimits.ofPod(pod, config.cpuQuota(), config.podPids()));
    }

    /**
     * Kills what is left in the cgroup of the pod {@code uid}, whatever its class, and removes it. Nothing to do if there is none.
     *
     * @throws IOException if a killed process has not ended yet; to be tried again
     */
    public void remove(String uid) throws IOException {
        if (names.isPart(uid)) {
            for (QosClass qos : CLASSES) {
                tree.remove(PodParent.ofClass(all, qos) + "/" + PodParent.POD + uid);
            }
        }
    }

    /** The UIDs of all pods that have a cgroup. */
    public Set<String> uids() throws IOException {
        Set<String> uids = new TreeSet<>();
        for (QosClass qos : CLASSES) {
            tree.names(PodParent.ofClass(all, qos), PodParent.POD)
                    .forEach(name -> uids.add(name.substring(PodParent.POD.length())));
        }
        uids.removeIf(uid -> !names.isPart(uid));
        return uids;
    }
}
