package io.nodekeeper.cli.doctor;

import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.scan.PodIdentity;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Formats {@link Findings} for people or programs: first what responds, layer by layer, then what hangs. Pure. */
final class DoctorReport {
    private final Findings findings;
    private final StringBuilder text = new StringBuilder();

    private DoctorReport(Findings findings) {
        this.findings = findings;
    }

    /** The report for people, as of {@code now}; {@code done} lists the remedies applied before. */
    static String text(Findings findings, List<String> done, Instant now) {
        return new DoctorReport(findings).write(done, now);
    }

    /** The report for programs. */
    static JsonObject json(Findings findings, List<String> done) {
        JsonObject.Builder json = JsonObject.builder()
                .put("socket", findings.socket())
                .put("healthy", findings.culprits().isEmpty())
                .putUnlessEmpty("runtime", version(findings))
                .putUnlessEmpty("processError", findings.processError())
                .put(
                        "calls",
                        array(findings.answers().stream()
                                .map(DoctorReport::call)
                                .toList()))
                .put(
                        "culprits",
                        array(findings.culprits().stream()
                                .map(DoctorReport::culprit)
                                .toList()));
        return done.isEmpty()
                ? json.build()
                : json.put("done", JsonArray.ofStrings(done)).build();
    }

    private String write(List<String> done, Instant now) {
        line((version(findings).isEmpty() ? "Container runtime" : version(findings)) + " at " + findings.socket()
                + ", as of " + KubeTime.format(now));
        line("");
        if (!done.isEmpty()) {
            line("Done:");
            done.forEach(what -> line("  " + what));
            line("");
        }
        line("What answers:");
        Map<String, List<CallOutcome>> byMethod = new LinkedHashMap<>();
        findings.answers()
                .forEach(answer -> byMethod.computeIfAbsent(answer.call().method(), key -> new ArrayList<>())
                        .add(answer));
        byMethod.forEach((method, answers) -> row(method, answers(answers)));
        findings.status()
                .ifPresent(status -> row(
                        "conditions",
                        status.conditions().stream()
                                .map(DoctorReport::condition)
                                .collect(Collectors.joining(", "))));
        row(
                "processes",
                findings.processError().isEmpty() ? processes() : "cannot be seen: " + findings.processError());
        line("");
        if (findings.culprits().isEmpty()) {
            line(
                    findings.processError().isEmpty()
                            ? "Nothing hangs."
                            : "No call hangs, but the processes could not be seen.");
            return text.toString();
        }
        line("What hangs:");
        int number = 0;
        for (Culprit culprit : findings.culprits()) {
            line("");
            line("  " + ++number + ". " + culprit.reason() + " ("
                    + culprit.layer().text() + ")");
            line("     " + culprit.summary());
            Duration age = Duration.between(culprit.since(), now);
            line("     since     " + KubeTime.format(culprit.since()) + ", "
                    + GoDuration.format(Duration.ofSeconds(Math.max(0, age.toSeconds()))) + " ago");
            culprit.pod().ifPresent(pod -> line("     pod       " + pod.text()));
            culprit.sandboxId().ifPresent(id -> line("     sandbox   " + id));
            culprit.containerId().ifPresent(id -> line("     container " + id));
            culprit.method().ifPresent(method -> line("     delays    " + method));
            culprit.evidence().forEach(evidence -> line("     evidence  " + evidence));
            line("     remedy    " + culprit.remedy().text()
                    + (culprit.remedy() instanceof Remedy.Advice ? "" : "   (--fix does it)"));
        }
        return text.toString();
    }

    private static String answers(List<CallOutcome> answers) {
        List<String> parts = new ArrayList<>();
        List<CallOutcome> good = answers.stream()
                .filter(answer -> answer.kind() == CallOutcome.Kind.ANSWERED)
                .toList();
        String slowest = good.stream()
                .map(CallOutcome::took)
                .max(Duration::compareTo)
                .map(DoctorReport::time)
                .orElse("");
        if (answers.size() == 1) {
            good.forEach(answer -> parts.add("in " + slowest));
        } else {
            parts.add(good.size() + " of " + answers.size() + (good.isEmpty() ? "" : ", the slowest in " + slowest));
        }
        for (CallOutcome answer : answers) {
            String id = answer.call()
                    .containerId()
                    .or(answer.call()::sandboxId)
                    .map(any -> any + " ")
                    .orElse("");
            switch (answer.kind()) {
                case LATE -> parts.add(id + "NOT within " + time(answer.took()));
                case UNREACHABLE, REFUSED -> parts.add(id + "fails: " + answer.error());
                case ANSWERED -> {
                    // Counted above.
                }
            }
        }
        return String.join("; ", parts);
    }

    private String processes() {
        long runtimes = count(ProcessRole.RUNTIME);
        String runtime = findings.processes().stream()
                .filter(info -> info.role() == ProcessRole.RUNTIME)
                .map(info -> "runtime pid " + info.ref().pid())
                .findFirst()
                .orElse("no runtime");
        return runtime + (runtimes > 1 ? " and " + (runtimes - 1) + " more" : "") + ", shims " + count(ProcessRole.SHIM)
                + ", in containers " + count(ProcessRole.CONTAINER) + ", OCI runtime commands "
                + count(ProcessRole.OCI_RUNTIME)
                + ", CNI plugins " + count(ProcessRole.CNI_PLUGIN);
    }

    private long count(ProcessRole role) {
        return findings.processes().stream().filter(info -> info.role() == role).count();
    }

    private static String condition(RuntimeCondition condition) {
        return condition.type() + "=" + condition.status()
                + (condition.status() ? "" : " (" + condition.reason() + ": " + condition.message() + ")");
    }

    private static String version(Findings findings) {
        return findings.version()
                .map(version -> version.name() + " " + version.version())
                .orElse("");
    }

    private static JsonValue call(CallOutcome answer) {
        return JsonObject.builder()
                .put("method", answer.call().method())
                .putUnlessEmpty(
                        "id",
                        answer.call().containerId().or(answer.call()::sandboxId).orElse(""))
                .put("outcome", answer.kind().name().toLowerCase(Locale.ROOT))
                .put("tookMillis", answer.took().toMillis())
                .putUnlessEmpty("error", answer.error())
                .build();
    }

    private static JsonValue culprit(Culprit culprit) {
        JsonObject.Builder json = JsonObject.builder()
                .put("layer", culprit.layer().name())
                .put("reason", culprit.reason())
                .put("summary", culprit.summary())
                .put("since", KubeTime.format(culprit.since()))
                .putUnlessEmpty("pod", culprit.pod().map(PodIdentity::text).orElse(""))
                .putUnlessEmpty("podUid", culprit.pod().map(PodIdentity::uid).orElse(""))
                .putUnlessEmpty("sandbox", culprit.sandboxId().orElse(""))
                .putUnlessEmpty("container", culprit.containerId().orElse(""))
                .putUnlessEmpty("method", culprit.method().orElse(""));
        culprit.process().ifPresent(process -> {
            json.put("pid", process.pid());
            json.put("command", process.command());
        });
        return json.put("evidence", JsonArray.ofStrings(culprit.evidence()))
                .put("remedy", culprit.remedy().text())
                .put("fixable", !(culprit.remedy() instanceof Remedy.Advice))
                .build();
    }

    private static JsonArray array(List<JsonValue> items) {
        return new JsonArray(items);
    }

    private void row(String name, String value) {
        line("  " + name + " ".repeat(Math.max(1, 18 - name.length())) + value);
    }

    private void line(String line) {
        text.append(line).append('\n');
    }

    private static String time(Duration took) {
        return GoDuration.format(Duration.ofMillis(took.toMillis()));
    }
}
