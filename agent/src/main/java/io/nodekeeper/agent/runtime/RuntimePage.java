package io.nodekeeper.agent.runtime;

import io.nodekeeper.agent.calls.CallTracker;
import io.nodekeeper.agent.calls.OpenCall;
import io.nodekeeper.agent.calls.OverdueCall;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.pleg.Inventory;
import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.PodRef;
import io.nodekeeper.agent.pleg.StuckPod;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Clock;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The content of {@code /debug/runtime} as JSON: calls in progress, overdue calls, the age of each pod's state, and
 * what hangs or is busy. Confined to the agent's loop.
 */
public final class RuntimePage implements Supplier<JsonObject> {
    private final RuntimeWatch watch;
    private final CallTracker calls;
    private final Pleg pleg;
    private final Clock clock;

    /** A page that shows the state of these parts. */
    public RuntimePage(RuntimeWatch watch, CallTracker calls, Pleg pleg, Clock clock) {
        this.watch = watch;
        this.calls = calls;
        this.pleg = pleg;
        this.clock = clock;
    }

    @Override
    public JsonObject get() {
        return JsonObject.builder()
                .put(
                        "runtime",
                        JsonObject.builder()
                                .put("version", watch.facts().version())
                                .put(
                                        "errors",
                                        JsonArray.ofStrings(watch.errors().inOrder()))
                                .put("listAgeSeconds", seconds(pleg.lastListAge()))
                                .build())
                .put("openCalls", array(calls.open(), this::open))
                .put("troubles", array(calls.overdue(Duration.ZERO), this::trouble))
                .put("pods", pods())
                .put("culprits", array(watch.culprits(), RuntimePage::culprit))
                .put("loads", array(watch.loads(), RuntimePage::culprit))
                .build();
    }

    private JsonArray pods() {
        Map<String, StuckPod> stuck =
                pleg.stuck().stream().collect(Collectors.toMap(pod -> pod.pod().uid(), Function.identity()));
        return array(pleg.inventory().pods(), pod -> pod(pod, stuck.get(pod.uid())));
    }

    private JsonObject pod(PodRef pod, @Nullable StuckPod stuck) {
        JsonObject.Builder json = JsonObject.builder()
                .put("uid", pod.uid())
                .put("name", pod.name())
                .put("namespace", pod.namespace())
                .put("stuck", stuck != null);
        OptionalLong fresh = pleg.cache().freshAt(pod.uid());
        if (fresh.isPresent()) {
            json.put("ageSeconds", age(fresh.getAsLong()));
        }
        if (stuck != null) {
            json.put("call", stuck.call().method())
                    .put("sinceSeconds", age(stuck.since()))
                    .put("tries", stuck.tries());
        }
        return json.build();
    }

    private JsonObject open(OpenCall open) {
        return subject(open.call())
                .put("ageSeconds", age(open.startedAt()))
                .put("deadlineSeconds", seconds(open.deadline()))
                .build();
    }

    private JsonObject trouble(OverdueCall trouble) {
        return subject(trouble.call())
                .put("ageSeconds", age(trouble.since()))
                .put("tries", trouble.tries())
                .build();
    }

    private JsonObject.Builder subject(RuntimeCall<?> call) {
        Inventory inventory = pleg.inventory();
        String id = call.containerId().or(call::sandboxId).orElse("");
        String pod = inventory
                .podOf(id)
                .or(() -> call.podUid().flatMap(inventory::pod))
                .map(PodRef::toString)
                .orElse("");
        return JsonObject.builder()
                .put("method", call.method())
                .putUnlessEmpty("id", id)
                .putUnlessEmpty("pod", pod);
    }

    private static JsonObject culprit(Culprit culprit) {
        JsonObject.Builder json = JsonObject.builder()
                .put("layer", culprit.layer().name())
                .put("reason", culprit.reason())
                .put("confidence", culprit.confidence().text())
                .put("summary", culprit.summary())
                .put("since", KubeTime.format(culprit.since()));
        culprit.pod().ifPresent(pod -> json.put("pod", pod.text()));
        culprit.sandboxId().ifPresent(id -> json.put("sandbox", id));
        culprit.containerId().ifPresent(id -> json.put("container", id));
        culprit.method().ifPresent(method -> json.put("method", method));
        culprit.process()
                .ifPresent(process -> json.put(
                        "process",
                        JsonObject.builder()
                                .put("pid", process.pid())
                                .put("command", process.command())
                                .build()));
        return json.put("evidence", JsonArray.ofStrings(culprit.evidence()))
                .put("remedy", culprit.remedy().text())
                .put("remedies", array(culprit.remedies(), RuntimePage::remedy))
                .build();
    }

    private static JsonObject remedy(Remedy remedy) {
        return JsonObject.builder()
                .put("text", remedy.text())
                .put("loses", remedy.loses())
                .put("needsForce", remedy.needsForce())
                .build();
    }

    private JsonValue age(long since) {
        return seconds(Duration.ofNanos(clock.nanoTime() - since));
    }

    /** With three digits: milliseconds are precise enough. */
    private static JsonValue seconds(Duration duration) {
        return new JsonNumber(BigDecimal.valueOf(duration.toMillis(), 3).toPlainString());
    }

    private static <T> JsonArray array(List<T> items, Function<T, JsonObject> json) {
        return new JsonArray(items.stream().<JsonValue>map(json).toList());
    }
}
