package io.nodekeeper.agent.config;

import io.nodekeeper.agent.config.file.ConfigFields;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The fields of a configuration file about cgroups, with the kubelet's checks. */
final class CgroupFields {
    private static final String PODS = "pods";
    private static final String NONE = "none";
    /** Kubernetes' other values, which need cgroups that the operator names. */
    private static final Set<String> OTHERS =
            Set.of("kube-reserved", "system-reserved", "kube-reserved-compressible", "system-reserved-compressible");

    private static final CgroupConfig USUAL = CgroupConfig.DEFAULT;

    private CgroupFields() {}

    static CgroupConfig read(ConfigFields fields) {
        boolean perQos = fields.bool("cgroupsPerQOS").orElse(USUAL.perQos());
        return new CgroupConfig(
                perQos,
                driver(fields),
                root(fields),
                enforces(fields, perQos),
                fields.bool("cpuCFSQuota").orElse(USUAL.cpuQuota()),
                Math.max(-1, fields.whole("podPidsLimit").orElse(USUAL.podPids())),
                fields.bool("singleProcessOOMKill").orElse(USUAL.singleKills()),
                fields.whole("oomScoreAdj", "from -1000 to 1000", -1_000, 1_000).orElse(USUAL.oomScoreAdjust()));
    }

    private static CgroupDriver driver(ConfigFields fields) {
        return fields.take(
                        "cgroupDriver",
                        "cgroupfs or systemd",
                        value -> value.equals("") ? Optional.of(USUAL.driver()) : CgroupDriver.of(value))
                .orElse(USUAL.driver());
    }

    private static String root(ConfigFields fields) {
        return fields.take(
                        "cgroupRoot",
                        "the absolute path of a cgroup, such as /name",
                        value -> ConfigFields.text(value).filter(root -> root.isEmpty() || CgroupConfig.isRoot(root)))
                .filter(root -> !root.isEmpty())
                .orElse(USUAL.root());
    }

    private static boolean enforces(ConfigFields fields, boolean perQos) {
        Optional<List<?>> read = fields.take(
                "enforceNodeAllocatable",
                "a list with pods or none, or an empty one",
                value -> value instanceof List<?> list ? Optional.of(list) : Optional.empty());
        if (read.isEmpty()) {
            return perQos;
        }
        List<?> list = read.get();
        for (Object item : list) {
            if (item instanceof String other && OTHERS.contains(other)) {
                fields.fault(
                        "enforceNodeAllocatable: " + other + " is not supported by this agent; expected pods or none");
            } else if (!PODS.equals(item) && !NONE.equals(item)) {
                fields.fault("option \"" + item
                        + "\" specified for enforceNodeAllocatable; valid options are \"pods\" and \"none\"");
            }
        }
        if (list.contains(NONE) && list.size() > 1) {
            fields.fault("enforceNodeAllocatable may not contain additional enforcements when \"none\" is specified");
        }
        if (list.stream().distinct().count() < list.size()) {
            fields.fault("duplicated enforcements in enforceNodeAllocatable; expected each once, got " + list);
        }
        if (list.contains(PODS) && !perQos) {
            fields.fault(
                    "enforceNodeAllocatable is not supported unless cgroupsPerQOS is set to true; expected none or []");
        }
        return list.contains(PODS) && perQos;
    }
}
