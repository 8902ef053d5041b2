package io.nodekeeper.agent.config;

import io.nodekeeper.agent.eviction.Threshold;
import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.GoDuration;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The configuration in effect as a {@code KubeletConfiguration}: the fields that the agent uses, with defaults and flags
 * applied. Values of headers are left out, because they may be credentials. Pure.
 */
public final class ConfigView {
    private final AgentConfig config;

    private ConfigView(AgentConfig config) {
        this.config = config;
    }

    /** The page {@code /configz} of a kubelet. */
    public static JsonObject of(AgentConfig config) {
        return JsonObject.builder()
                .put("kubeletconfig", new ConfigView(config).json())
                .build();
    }

    private JsonObject json() {
        JsonObject.Builder json = JsonObject.builder()
                .put("enableServer", config.gates().has(AgentFeature.POD_LIFECYCLE))
                .put("syncFrequency", GoDuration.format(config.syncFrequency()))
                .put("nodeStatusUpdateFrequency", GoDuration.format(config.nodeStatusUpdateFrequency()))
                .put("nodeStatusReportFrequency", GoDuration.format(config.nodeStatusReportFrequency()))
                .put("nodeLeaseDurationSeconds", config.nodeLeaseDurationSeconds())
                .put("maxPods", config.maxPods())
                .put("podsPerCore", config.podsPerCore())
                .put("registerNode", config.registerNode())
                .put("rotateCertificates", config.rotatesCertificates())
                .put("enableControllerAttachDetach", config.enableControllerAttachDetach())
                .put("localStorageCapacityIsolation", config.localStorageCapacityIsolation())
                .put(
                        "registerWithTaints",
                        JsonArray.of(config.registerWithTaints().stream()
                                .map(Taint::json)
                                .toArray(JsonObject[]::new)))
                .putUnlessEmpty("providerID", config.providerId())
                .put("kubeReserved", amounts(config.kubeReserved()))
                .put("systemReserved", amounts(config.systemReserved()));
        thresholds(json);
        runtime(json);
        pods(json);
        cgroups(json);
        server(json);
        gates(json);
        return json.put("kind", "KubeletConfiguration")
                .put("apiVersion", "kubelet.config.k8s.io/v1beta1")
                .build();
    }

    private static JsonObject amounts(Map<String, Quantity> amounts) {
        Map<String, String> texts = new TreeMap<>();
        amounts.forEach((resource, amount) -> texts.put(resource, amount.toString()));
        return JsonObject.ofStrings(texts);
    }

    private void thresholds(JsonObject.Builder json) {
        Map<String, String> hard = new TreeMap<>();
        Map<String, String> soft = new TreeMap<>();
        Map<String, String> grace = new TreeMap<>();
        for (Threshold threshold : config.thresholds()) {
            if (threshold.signal().needsPodCgroup() && threshold.byDefault()) {
                // A kubelet has it without a field for it.
                continue;
            }
            String signal = threshold.signal().text();
            (threshold.hard() ? hard : soft).put(signal, text(threshold.limit()));
            if (!threshold.hard()) {
                grace.put(signal, GoDuration.format(threshold.grace()));
            }
        }
        json.put("evictionHard", JsonObject.ofStrings(hard))
                .put("evictionSoft", JsonObject.ofStrings(soft))
                .put("evictionSoftGracePeriod", JsonObject.ofStrings(grace))
                .put("evictionPressureTransitionPeriod", GoDuration.format(config.evictionPressureTransitionPeriod()))
                .put(
                        "evictionMaxPodGracePeriod",
                        config.pods().evictionMaxGrace().toSeconds());
    }

    private static String text(Threshold.Limit limit) {
        return switch (limit) {
            case Threshold.Amount amount -> amount.quantity().toString();
            case Threshold.Share share ->
                new BigDecimal(Float.toString(share.fraction()))
                                .movePointRight(2)
                                .stripTrailingZeros()
                                .toPlainString()
                        + "%";
        };
    }

    private void runtime(JsonObject.Builder json) {
        RuntimeConfig runtime = config.runtime();
        json.putUnlessEmpty("containerRuntimeEndpoint", runtime.endpoint().orElse(""))
                .put("runtimeRequestTimeout", GoDuration.format(runtime.requestTimeout()))
                .put("nodeStatusMaxImages", runtime.maxImages());
    }

    private void pods(JsonObject.Builder json) {
        PodConfig pods = config.pods();
        StaticPodConfig fixed = pods.staticPods();
        ContainerLogConfig logs = pods.containerLogs();
        json.put("cpuManagerPolicy", pods.cpus().policy())
                .put("cpuManagerReconcilePeriod", GoDuration.format(pods.cpus().reconcilePeriod()))
                .putUnlessEmpty("reservedSystemCPUs", pods.cpus().reserved().toString())
                .put(
                        "allowedUnsafeSysctls",
                        JsonArray.ofStrings(pods.security().unsafeSysctls().stream()
                                .map(SysctlPattern::text)
                                .toList()))
                .put("seccompDefault", pods.security().seccompDefault())
                .put("podLogsDir", pods.logsDirectory().toString())
                .put("containerLogMaxSize", Long.toString(logs.maxSize()))
                .put("containerLogMaxFiles", logs.maxFiles())
                .put("containerLogMonitorInterval", GoDuration.format(logs.monitorInterval()))
                .put("clusterDNS", JsonArray.ofStrings(pods.clusterDns()))
                .putUnlessEmpty("clusterDomain", pods.clusterDomain())
                .put("resolvConf", pods.resolvConf().toString())
                .put("imageMinimumGCAge", GoDuration.format(pods.imageGc().minimumAge()))
                .put("imageMaximumGCAge", GoDuration.format(pods.imageGc().maximumAge()))
                .put("imageGCHighThresholdPercent", pods.imageGc().highThresholdPercent())
                .put("imageGCLowThresholdPercent", pods.imageGc().lowThresholdPercent())
                .putUnlessEmpty("staticPodPath", text(fixed.path()))
                .put("fileCheckFrequency", GoDuration.format(fixed.fileCheckFrequency()))
                .putUnlessEmpty(
                        "staticPodURL", fixed.url().map(ConfigView::withoutUser).orElse(""))
                .put("httpCheckFrequency", GoDuration.format(fixed.httpCheckFrequency()))
                .put(
                        "shutdownGracePeriodByPodPriority",
                        JsonArray.of(config.shutdown().groups().stream()
                                .map(group -> JsonObject.builder()
                                        .put("priority", group.priority())
                                        .put(
                                                "shutdownGracePeriodSeconds",
                                                group.period().toSeconds())
                                        .build())
                                .toArray(JsonObject[]::new)));
    }

    private void cgroups(JsonObject.Builder json) {
        CgroupConfig cgroups = config.pods().cgroups();
        json.put("cgroupsPerQOS", cgroups.perQos())
                .put("cgroupDriver", cgroups.driver().text())
                .put("cgroupRoot", cgroups.root())
                .put(
                        "enforceNodeAllocatable",
                        cgroups.enforces() ? JsonArray.ofStrings(List.of("pods")) : JsonArray.ofStrings(List.of()))
                .put("cpuCFSQuota", cgroups.cpuQuota())
                .put("podPidsLimit", cgroups.podPids())
                .put("singleProcessOOMKill", cgroups.singleKills())
                .put("oomScoreAdj", cgroups.oomScoreAdjust());
    }

    /** User and password may be in a URL. */
    private static String withoutUser(URI url) {
        return url.getRawUserInfo() == null ? url.toString() : url.toString().replace(url.getRawUserInfo() + "@", "");
    }

    private void server(JsonObject.Builder json) {
        NodeApiConfig api = config.nodeApi();
        json.put("address", IpLiteral.text(api.address()))
                .put("port", config.serving().kubeletPort())
                .put("healthzBindAddress", IpLiteral.text(config.serving().bindAddress()))
                .put("healthzPort", config.serving().port())
                .put("serverTLSBootstrap", api.issued())
                .putUnlessEmpty("tlsCertFile", text(api.certificate()))
                .putUnlessEmpty("tlsPrivateKeyFile", text(api.key()))
                .put(
                        "authentication",
                        JsonObject.builder()
                                .put(
                                        "anonymous",
                                        JsonObject.builder()
                                                .put("enabled", api.anonymous())
                                                .build())
                                .put(
                                        "webhook",
                                        JsonObject.builder()
                                                .put("enabled", api.reviewTokens())
                                                .put("cacheTTL", GoDuration.format(api.tokenTtl()))
                                                .build())
                                .put(
                                        "x509",
                                        JsonObject.builder()
                                                .putUnlessEmpty("clientCAFile", text(api.clientAuthorities()))
                                                .build())
                                .build())
                .put(
                        "authorization",
                        JsonObject.builder()
                                .put("mode", api.authorize() ? "Webhook" : "AlwaysAllow")
                                .put(
                                        "webhook",
                                        JsonObject.builder()
                                                .put("cacheAuthorizedTTL", GoDuration.format(api.allowedTtl()))
                                                .put("cacheUnauthorizedTTL", GoDuration.format(api.deniedTtl()))
                                                .build())
                                .build());
    }

    private void gates(JsonObject.Builder json) {
        JsonObject.Builder gates = JsonObject.builder();
        Arrays.stream(AgentFeature.values())
                .forEach(gate -> gates.put(gate.text(), config.gates().has(gate)));
        json.put("featureGates", gates.build());
    }

    private static String text(Optional<Path> path) {
        return path.map(Path::toString).orElse("");
    }
}
