package io.nodekeeper.agent.config;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The fields of a configuration file about cgroups, with the kubelet's checks. Used by one thread. */
final class CgroupFields {
    private static final String PODS = "pods";
    private static final String NONE = "none";
    /** Kubernetes' other values, which need cgroups that the operator names. */
    private static final Set<String> OTHERS =
            Set.of("kube-reserved", "system-reserved", "kube-reserved-compressible", "system-reserved-compressible");

    private static final CgroupConfig USUAL = CgroupConfig.DEFAULT;

    private final Map<String, Object> fields;
    private final List<String> faults;

    /** Removes what it reads from {@code fields}; adds what is wrong to {@code faults}. */
    CgroupFields(Map<String, Object> fields, List<String> faults) {
        this.fields = fields;
        this.faults = faults;
    }

    CgroupConfig read() {
        boolean perQos = bool("cgroupsPerQOS", USUAL.perQos());
        return new CgroupConfig(
                perQos,
                driver(),
                root(),
                enforces(perQos),
                bool("cpuCFSQuota", USUAL.cpuQuota()),
                Math.max(-1, whole("podPidsLimit", USUAL.podPids(), Long.MIN_VALUE, Long.MAX_VALUE)),
                bool("singleProcessOOMKill", USUAL.singleKills()),
                (int) whole("oomScoreAdj", USUAL.oomScoreAdjust(), -1_000, 1_000));
    }

    private CgroupDriver driver() {
        Object value = take("cgroupDriver").orElse("");
        if (value.equals("")) {
            return USUAL.driver();
        }
        return CgroupDriver.of(value)
                .orElseGet(() -> fault("cgroupDriver", "cgroupfs or systemd", value, USUAL.driver()));
    }

    private String root() {
        Object value = take("cgroupRoot").orElse("");
        if (value.equals("")) {
            return USUAL.root();
        }
        return value instanceof String root && CgroupConfig.isRoot(root)
                ? root
                : fault("cgroupRoot", "the absolute path of a cgroup, such as /name", value, USUAL.root());
    }

    private boolean enforces(boolean perQos) {
        Optional<Object> value = take("enforceNodeAllocatable");
        if (value.isEmpty()) {
            return perQos;
        }
        if (!(value.get() instanceof List<?> list)) {
            return fault("enforceNodeAllocatable", "a list with pods or none, or an empty one", value.get(), perQos);
        }
        for (Object item : list) {
            if (item instanceof String other && OTHERS.contains(other)) {
                faults.add(
                        "enforceNodeAllocatable: " + other + " is not supported by this agent; expected pods or none");
            } else if (!PODS.equals(item) && !NONE.equals(item)) {
                faults.add("option \"" + item
                        + "\" specified for enforceNodeAllocatable; valid options are \"pods\" and" + " \"none\"");
            }
        }
        if (list.contains(NONE) && list.size() > 1) {
            faults.add("enforceNodeAllocatable may not contain additional enforcements when \"none\" is specified");
        }
        if (list.stream().distinct().count() < list.size()) {
            faults.add("duplicated enforcements in enforceNodeAllocatable; expected each once, got " + list);
        }
        if (list.contains(PODS) && !perQos) {
            faults.add(
                    "enforceNodeAllocatable is not supported unless cgroupsPerQOS is set to true; expected none or []");
        }
        return list.contains(PODS) && perQos;
    }

    private boolean bool(String field, boolean usual) {
        Object value = take(field).orElse(usual);
        return value instanceof Boolean set ? set : fault(field, "true or false", value, usual);
    }

    private long whole(String field, long usual, long least, long most) {
        Object value = take(field).orElse(usual);
        boolean number = value instanceof Integer || value instanceof Long;
        if (number && ((Number) value).longValue() >= least && ((Number) value).longValue() <= most) {
            return ((Number) value).longValue();
        }
        if (least == Long.MIN_VALUE) {
            return fault(field, "a whole number", value, usual);
        }
        return fault(field, "from " + least + " to " + most, value, usual);
    }

    private <T> T fault(String field, String expected, Object value, T usual) {
        faults.add(field + " must be " + expected + ", got " + value);
        return usual;
    }

    private Optional<Object> take(String field) {
        return Optional.ofNullable(fields.remove(field));
    }
}
