package io.nodekeeper.agent.config.file;

import static io.nodekeeper.agent.config.file.FieldType.BOOL;
import static io.nodekeeper.agent.config.file.FieldType.BOOL_MAP;
import static io.nodekeeper.agent.config.file.FieldType.DURATION;
import static io.nodekeeper.agent.config.file.FieldType.DURATION_OR_NANOSECONDS;
import static io.nodekeeper.agent.config.file.FieldType.LIST_MAP;
import static io.nodekeeper.agent.config.file.FieldType.OBJECTS;
import static io.nodekeeper.agent.config.file.FieldType.QUANTITY;
import static io.nodekeeper.agent.config.file.FieldType.TEXT;
import static io.nodekeeper.agent.config.file.FieldType.TEXTS;
import static io.nodekeeper.agent.config.file.FieldType.TEXT_MAP;
import static io.nodekeeper.agent.config.file.FieldType.WHOLE;
import static io.nodekeeper.agent.config.file.FieldType.oneOf;
import static io.nodekeeper.agent.config.file.FieldType.share;
import static io.nodekeeper.agent.config.file.FieldType.whole;
import static io.nodekeeper.agent.config.file.KubeletField.defaultOnly;
import static io.nodekeeper.agent.config.file.KubeletField.noEffect;
import static io.nodekeeper.agent.config.file.KubeletField.supported;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * All fields of Kubernetes 1.32's {@code KubeletConfiguration} (v1beta1), with its defaults. A field is supported if
 * {@code ConfigFile} reads it. Immutable.
 */
public final class KubeletFields {
    private static final String NO_RULES = "the agent writes no iptables rules";
    private static final String NO_PROFILES = "there is no such page";
    private static final String OWN_CLIENT = "the agent's client has bounds of its own";
    private static final String OWN_LOG = "flags of the agent set its log";

    private static final List<KubeletField> ALL = List.of(
            supported("address", TEXT, "0.0.0.0"),
            supported("allowedUnsafeSysctls", TEXTS, ""),
            supported("authentication.anonymous.enabled", BOOL, "false"),
            supported("authentication.webhook.cacheTTL", DURATION, "2m0s"),
            supported("authentication.webhook.enabled", BOOL, "true"),
            supported("authentication.x509.clientCAFile", TEXT, ""),
            supported("authorization.mode", TEXT, "Webhook"),
            supported("authorization.webhook.cacheAuthorizedTTL", DURATION, "5m0s"),
            supported("authorization.webhook.cacheUnauthorizedTTL", DURATION, "30s"),
            supported("cgroupDriver", TEXT, "cgroupfs"),
            supported("cgroupRoot", TEXT, ""),
            supported("cgroupsPerQOS", BOOL, "true"),
            supported("clusterDNS", TEXTS, ""),
            supported("clusterDomain", TEXT, ""),
            noEffect(
                    "configMapAndSecretChangeDetectionStrategy",
                    oneOf("Get", "Cache", "Watch"),
                    "Watch",
                    "objects are read on a period"),
            supported("containerLogMaxFiles", WHOLE, "5"),
            supported("containerLogMaxSize", TEXT, "10Mi"),
            defaultOnly("containerLogMaxWorkers", whole(1, Integer.MAX_VALUE).zeroCounts(), "1"),
            supported("containerLogMonitorInterval", DURATION.zeroCounts(), "10s"),
            supported("containerRuntimeEndpoint", TEXT, ""),
            noEffect("contentType", TEXT, "application/vnd.kubernetes.protobuf", "the agent chooses the form itself"),
            supported("cpuCFSQuota", BOOL, "true"),
            defaultOnly("cpuCFSQuotaPeriod", DURATION.zeroCounts(), "100ms"),
            supported("cpuManagerPolicy", TEXT, "none"),
            defaultOnly("cpuManagerPolicyOptions", TEXT_MAP, ""),
            supported("cpuManagerReconcilePeriod", DURATION, "10s"),
            defaultOnly("crashLoopBackOff.maxContainerRestartPeriod", DURATION, ""),
            noEffect("enableContentionProfiling", BOOL, "false", NO_PROFILES),
            supported("enableControllerAttachDetach", BOOL, "true"),
            noEffect("enableDebugFlagsHandler", BOOL, "true", NO_PROFILES),
            defaultOnly("enableDebuggingHandlers", BOOL, "true"),
            noEffect("enableProfilingHandler", BOOL, "true", NO_PROFILES),
            defaultOnly("enableServer", BOOL, "true"),
            noEffect("enableSystemLogHandler", BOOL, "true", NO_PROFILES),
            defaultOnly("enableSystemLogQuery", BOOL, "false"),
            supported("enforceNodeAllocatable", TEXTS.zeroCounts(), "[pods]"),
            noEffect("eventBurst", whole(0, Integer.MAX_VALUE), "100", OWN_CLIENT),
            noEffect("eventRecordQPS", whole(0, Integer.MAX_VALUE).zeroCounts(), "50", OWN_CLIENT),
            supported("evictionHard", TEXT_MAP.zeroCounts(), ""),
            supported("evictionMaxPodGracePeriod", WHOLE, "0"),
            supported("evictionMinimumReclaim", TEXT_MAP, ""),
            supported("evictionPressureTransitionPeriod", DURATION, "5m0s"),
            supported("evictionSoft", TEXT_MAP, ""),
            supported("evictionSoftGracePeriod", TEXT_MAP, ""),
            defaultOnly("failCgroupV1", BOOL, "false"),
            noEffect("failSwapOn", BOOL, "true", "the agent starts with and without swap"),
            supported("featureGates", BOOL_MAP, ""),
            supported("fileCheckFrequency", DURATION, "20s"),
            noEffect(
                    "hairpinMode",
                    oneOf("none", "hairpin-veth", "promiscuous-bridge"),
                    "promiscuous-bridge",
                    "the network plugin decides"),
            supported("healthzBindAddress", TEXT, "127.0.0.1"),
            supported("healthzPort", WHOLE.zeroCounts(), "10248"),
            supported("httpCheckFrequency", DURATION, "20s"),
            supported("imageGCHighThresholdPercent", WHOLE.zeroCounts(), "85"),
            supported("imageGCLowThresholdPercent", WHOLE.zeroCounts(), "80"),
            supported("imageMaximumGCAge", DURATION, "0s"),
            supported("imageMinimumGCAge", DURATION, "2m0s"),
            defaultOnly("imageServiceEndpoint", TEXT, ""),
            noEffect("iptablesDropBit", whole(0, 31).zeroCounts(), "15", NO_RULES),
            noEffect("iptablesMasqueradeBit", whole(0, 31).zeroCounts(), "14", NO_RULES),
            noEffect("kernelMemcgNotification", BOOL, "false", "memory is measured on a period"),
            noEffect("kubeAPIBurst", whole(0, Integer.MAX_VALUE), "100", OWN_CLIENT),
            noEffect("kubeAPIQPS", whole(0, Integer.MAX_VALUE).zeroCounts(), "50", OWN_CLIENT),
            defaultOnly("kubeletCgroups", TEXT, ""),
            supported("kubeReserved", TEXT_MAP, ""),
            defaultOnly("kubeReservedCgroup", TEXT, ""),
            supported("localStorageCapacityIsolation", BOOL, "true"),
            noEffect("logging.flushFrequency", DURATION_OR_NANOSECONDS, "5s", OWN_LOG),
            noEffect("logging.format", TEXT, "text", OWN_LOG),
            noEffect("logging.options.json.infoBufferSize", QUANTITY, "0", OWN_LOG),
            noEffect("logging.options.json.splitStream", BOOL, "false", OWN_LOG),
            noEffect("logging.options.text.infoBufferSize", QUANTITY, "0", OWN_LOG),
            noEffect("logging.options.text.splitStream", BOOL, "false", OWN_LOG),
            noEffect("logging.verbosity", whole(0, Integer.MAX_VALUE), "0", OWN_LOG),
            noEffect("logging.vmodule", OBJECTS, "", OWN_LOG),
            noEffect("makeIPTablesUtilChains", BOOL, "true", NO_RULES),
            noEffect(
                    "maxOpenFiles",
                    whole(0, Long.MAX_VALUE),
                    "1000000",
                    "the agent keeps the limit that it is started with"),
            noEffect("maxParallelImagePulls", whole(1, Integer.MAX_VALUE), "", "each pod pulls its own images"),
            supported("maxPods", WHOLE, "110"),
            defaultOnly("memoryManagerPolicy", oneOf("None", "Static"), "None"),
            defaultOnly("memorySwap.swapBehavior", oneOf("NoSwap", "LimitedSwap"), "", "NoSwap"),
            noEffect("memoryThrottlingFactor", share(), "0.9", "only with Kubernetes' alpha gate MemoryQoS"),
            supported("mergeDefaultEvictionSettings", BOOL, "false"),
            supported("nodeLeaseDurationSeconds", WHOLE, "40"),
            supported("nodeStatusMaxImages", WHOLE.zeroCounts(), "50"),
            supported("nodeStatusReportFrequency", DURATION, "5m0s"),
            supported("nodeStatusUpdateFrequency", DURATION, "10s"),
            supported("oomScoreAdj", WHOLE.zeroCounts(), "-999"),
            noEffect("podCIDR", TEXT, "", "the network plugin decides"),
            supported("podLogsDir", TEXT, "/var/log/pods"),
            supported("podPidsLimit", WHOLE.zeroCounts(), "-1"),
            supported("podsPerCore", WHOLE, "0"),
            supported("port", WHOLE, "10250"),
            defaultOnly("protectKernelDefaults", BOOL, "false"),
            supported("providerID", TEXT, ""),
            defaultOnly("qosReserved", TEXT_MAP, ""),
            defaultOnly("readOnlyPort", whole(0, 65_535), "0"),
            supported("registerNode", BOOL, "true"),
            supported("registerWithTaints", OBJECTS, ""),
            noEffect("registryBurst", whole(0, Integer.MAX_VALUE), "10", "pulls have no common limit"),
            noEffect("registryPullQPS", whole(0, Integer.MAX_VALUE).zeroCounts(), "5", "pulls have no common limit"),
            defaultOnly("reservedMemory", OBJECTS, ""),
            supported("reservedSystemCPUs", TEXT, ""),
            supported("resolvConf", TEXT.zeroCounts(), "/etc/resolv.conf"),
            supported("rotateCertificates", BOOL, "false"),
            defaultOnly("runOnce", BOOL, "false"),
            supported("runtimeRequestTimeout", DURATION, "2m0s"),
            supported("seccompDefault", BOOL, "false"),
            noEffect("serializeImagePulls", BOOL, "true", "each pod pulls its own images"),
            supported("serverTLSBootstrap", BOOL, "false"),
            noEffect("showHiddenMetricsForVersion", TEXT, "", "no metric is hidden"),
            supported("shutdownGracePeriod", DURATION, "0s"),
            supported("shutdownGracePeriodByPodPriority", OBJECTS, ""),
            supported("shutdownGracePeriodCriticalPods", DURATION, "0s"),
            supported("singleProcessOOMKill", BOOL, "false"),
            supported("staticPodPath", TEXT, ""),
            supported("staticPodURL", TEXT, ""),
            supported("staticPodURLHeader", LIST_MAP, ""),
            defaultOnly("streamingConnectionIdleTimeout", DURATION, "4h0m0s"),
            supported("syncFrequency", DURATION, "1m0s"),
            defaultOnly("systemCgroups", TEXT, ""),
            supported("systemReserved", TEXT_MAP, ""),
            defaultOnly("systemReservedCgroup", TEXT, ""),
            supported("tlsCertFile", TEXT, ""),
            defaultOnly("tlsCipherSuites", TEXTS, ""),
            defaultOnly("tlsMinVersion", TEXT, "", "VersionTLS12"),
            supported("tlsPrivateKeyFile", TEXT, ""),
            defaultOnly(
                    "topologyManagerPolicy", oneOf("none", "best-effort", "restricted", "single-numa-node"), "none"),
            defaultOnly("topologyManagerPolicyOptions", TEXT_MAP, ""),
            noEffect("topologyManagerScope", oneOf("container", "pod"), "container", "there is no topology manager"),
            defaultOnly("tracing.endpoint", TEXT, ""),
            defaultOnly("tracing.samplingRatePerMillion", whole(0, Integer.MAX_VALUE), "0"),
            noEffect(
                    "volumePluginDir",
                    TEXT,
                    "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
                    "there are no FlexVolumes"),
            noEffect("volumeStatsAggPeriod", DURATION, "1m0s", "statistics are made on request"));

    private static final Map<String, KubeletField> BY_PATH =
            ALL.stream().collect(Collectors.toUnmodifiableMap(KubeletField::path, Function.identity()));

    private KubeletFields() {}

    /** All fields, in the order of their names. */
    public static List<KubeletField> all() {
        return ALL;
    }

    static Optional<KubeletField> at(String path) {
        return Optional.ofNullable(BY_PATH.get(path));
    }

    /** Whether {@code path} is an object of which Kubernetes knows the fields. */
    static boolean isObject(String path) {
        return ALL.stream().anyMatch(field -> field.path().startsWith(path + "."));
    }
}
