package io.nodekeeper.agent.metrics;

import io.nodekeeper.agent.pods.model.PodCounts;
import io.nodekeeper.agent.pods.model.PodMetrics;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * How many pods the node has and how many it refused, under the kubelet's names. Gauges are absent while the agent runs no pods.
 * Thread-safe.
 */
final class PodCounter implements PodMetrics {
    /** The reasons that are shown as they are: a pod may ask for a resource of any name. */
    private static final Set<String> REASONS = Set.of(
            "AppArmor",
            "Evicted",
            "NodeAffinity",
            "NodePorts",
            "NodeShutdown",
            "OutOfAgentMemory",
            "OutOfcpu",
            "OutOfephemeral-storage",
            "OutOfmemory",
            "OutOfpods",
            "SupplementalGroupsPolicyNotSupported",
            "SysctlForbidden",
            "TaintToleration",
            "UnexpectedAdmissionError");

    private final Counter rejections;
    private volatile Optional<PodCounts> counts = Optional.empty();

    PodCounter(MetricFactory make) {
        rejections = make.counter("kubelet_admission_rejections_total", "Pods that were not admitted.", "reason");
        make.gauge(
                "kubelet_desired_pods",
                "Pods that the node shall run; static is true for those that are not from the API.",
                callback -> show(callback, PodCounts::desired, PodCounts::desiredStatic),
                "static");
        make.gauge(
                "kubelet_active_pods",
                "Pods that were admitted and run or will run; static is true for those that are not from the API.",
                callback -> show(callback, PodCounts::active, PodCounts::activeStatic),
                "static");
        make.lateGauge(
                "kubelet_mirror_pods",
                "Copies of static pods in the API.",
                () -> counts.map(now -> OptionalDouble.of(now.mirrors())).orElse(OptionalDouble.empty()));
    }

    /** The kubelet's values of the label: it is empty for pods of the API. */
    private void show(
            GaugeWithCallback.Callback callback,
            ToLongFunction<PodCounts> ofApi,
            ToLongFunction<PodCounts> ofManifests) {
        counts.ifPresent(now -> {
            callback.call(ofApi.applyAsLong(now), "");
            callback.call(ofManifests.applyAsLong(now), "true");
        });
    }

    @Override
    public void counted(PodCounts now) {
        counts = Optional.of(now);
    }

    @Override
    public void rejected(String reason) {
        String other = reason.startsWith("OutOf") ? "OutOfExtendedResources" : "Other";
        rejections.labelValues(REASONS.contains(reason) ? reason : other).inc();
    }
}
