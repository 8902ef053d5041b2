package io.nodekeeper.cli.doctor;

import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.repair.Attempt;
import io.nodekeeper.agent.culprit.repair.RepairPlan;
import io.nodekeeper.agent.culprit.repair.RepairStep;
import io.nodekeeper.agent.culprit.scan.PodIdentity;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cli.doctor.node.CheckResult;
import io.nodekeeper.cli.output.Printable;
import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Formats {@link Findings} for people or programs: first what responds, layer by layer, then what hangs. Pure. */
final class DoctorReport {
    private final Findings findings;
    private final Optional<RepairPlan> plan;
    private final Optional<List<Attempt>> attempts;
    private final List<CheckResult> node;
    private final StringBuilder text = new StringBuilder();

    private DoctorReport(
            Findings findings, Optional<RepairPlan> plan, Optional<List<Attempt>> attempts, List<CheckResult> node) {
        this.findings = findings;
        this.plan = plan;
        this.attempts = attempts;
        this.node = List.copyOf(node);
    }

    /** A report of an examination. */
    static DoctorReport of(Findings findings) {
        return new DoctorReport(findings, Optional.empty(), Optional.empty(), List.of());
    }

    /** The same with what the checks of the node found. */
    DoctorReport withNode(List<CheckResult> results) {
        return new DoctorReport(findings, plan, attempts, results);
    }

    /** Whether the node would be Ready. */
    boolean healthy() {
        return findings.healthy() && node.stream().noneMatch(check -> check.state() == CheckResult.State.FAILED);
    }

    /** The same with the plan of remedies. */
    DoctorReport with(RepairPlan known) {
        return new DoctorReport(findings, Optional.of(known), attempts, node);
    }

    /** The same with the results of the remedies. */
    DoctorReport with(List<Attempt> done) {
        return new DoctorReport(findings, plan, Optional.of(done), node);
    }

    /** The lines of a plan for people. */
    static List<String> plan(RepairPlan plan) {
        List<String> lines = new ArrayList<>(List.of("Plan:"));
        int number = 0;
        for (RepairStep step : plan.steps()) {
            lines.add("  " + ++number + ". " + step.remedy().text() + "   ("
                    + step.decision().text() + ")");
            lines.add("     for       " + step.culprit().summary());
            lines.add("     lost      " + step.remedy().loses());
            if (!step.why().isEmpty()) {
                lines.add("     note      " + step.why());
            }
        }
        return lines;
    }

    /** The report for programs, as of {@code now}. */
    JsonObject json(Instant now) {
        JsonObject.Builder json = JsonObject.builder()
                .put("at", KubeTime.format(now))
                .put("socket", findings.socket())
                .put("healthy", healthy())
                .putUnlessEmpty("runtime", version(findings));
        findings.status()
                .ifPresent(status -> json.put(
                        "conditions",
                        array(status.conditions().stream()
                                .map(DoctorReport::conditionJson)
                                .toList())));
        if (findings.processError().isEmpty()) {
            json.put("processes", processesJson());
        }
        json.putUnlessEmpty("processError", findings.processError())
                .put("faults", JsonArray.ofStrings(findings.faults()))
                .put(
                        "calls",
                        array(findings.answers().stream()
                                .map(DoctorReport::call)
                                .toList()))
                .put("culprits", culprits(findings.culprits()))
                .put("loads", culprits(findings.loads()));
        if (!node.isEmpty()) {
            json.put(
                    "node",
                    array(node.stream().<JsonValue>map(CheckResult::json).toList()));
        }
        plan.ifPresent(known -> json.put(
                "plan", array(known.steps().stream().map(DoctorReport::step).toList())));
        attempts.ifPresent(done ->
                json.put("done", array(done.stream().map(DoctorReport::attempt).toList())));
        return json.build();
    }

    /** The report for people, as of {@code now}. */
    String text(Instant now) {
        text.setLength(0);
        line((version(findings).isEmpty() ? "Container runtime" : version(findings)) + " at " + findings.socket()
                + ", as of " + KubeTime.format(now));
        line("");
        attempts.ifPresent(done -> {
            line("Done:");
            if (done.isEmpty()) {
                line("  nothing: a second examination did not find the same any more");
            }
            done.forEach(attempt -> line("  " + attempt.text()));
            line("");
        });
        if (attempts.isEmpty() && plan.filter(known -> !known.steps().isEmpty()).isPresent()) {
            plan.map(DoctorReport::plan).orElse(List.of()).forEach(this::line);
            line("  Nothing of it is applied.");
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
        node();
        if (findings.culprits().isEmpty()) {
            line(findings.healthy() ? "Nothing hangs." : "No process or call was found to hang, but:");
            findings.faults().forEach(fault -> line("  " + fault));
        } else {
            culprits("What hangs:", findings.culprits(), now);
        }
        if (!findings.loads().isEmpty()) {
            line("");
            culprits("What may make calls late:", findings.loads(), now);
        }
        return text.toString();
    }

    private static JsonArray culprits(List<Culprit> culprits) {
        return array(culprits.stream().map(DoctorReport::culprit).toList());
    }

    private void culprits(String title, List<Culprit> culprits, Instant now) {
        line(title);
        int number = 0;
        for (Culprit culprit : culprits) {
            line("");
            culprit(++number, culprit, now);
        }
    }

    private void node() {
        if (node.isEmpty()) {
            return;
        }
        line("The node:");
        int width =
                node.stream().mapToInt(check -> check.check().length()).max().orElse(0);
        for (CheckResult check : node) {
            line(String.format(
                    Locale.ROOT, "  %-11s  %-" + width + "s  %s", check.state().label(), check.check(), check.text()));
            if (!check.next().isEmpty()) {
                line(" ".repeat(width + 17) + "next: " + check.next());
            }
        }
        line("");
    }

    private void culprit(int number, Culprit culprit, Instant now) {
        boolean unknown = culprit.confidence() == Confidence.UNKNOWN;
        line("  " + number + ". " + culprit.reason() + " (" + culprit.layer().text() + "), "
                + (unknown ? "cause unknown" : culprit.confidence().text()));
        line("     " + culprit.summary());
        Duration age = Duration.between(culprit.since(), now);
        line("     since     " + KubeTime.format(culprit.since()) + ", "
                + GoDuration.format(Duration.ofSeconds(Math.max(0, age.toSeconds()))) + " ago");
        culprit.pod().ifPresent(pod -> line("     pod       " + pod.text()));
        culprit.sandboxId().ifPresent(id -> line("     sandbox   " + id));
        culprit.containerId().ifPresent(id -> line("     container " + id));
        culprit.method().ifPresent(method -> line("     delays    " + method));
        culprit.evidence().forEach(evidence -> line((unknown ? "     examined  " : "     evidence  ") + evidence));
        String label = unknown ? "     next      " : "     remedy    ";
        for (Remedy remedy : culprit.remedies()) {
            line(label + remedy.text() + how(remedy));
            if (!remedy.loses().equals(Remedy.NO_LOSS)) {
                line("               lost: " + remedy.loses());
            }
            label = "     then      ";
        }
    }

    private static String how(Remedy remedy) {
        if (remedy instanceof Remedy.Advice) {
            return "";
        }
        return remedy.needsForce() ? "   (--fix --force does it)" : "   (--fix does it)";
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

    private JsonObject processesJson() {
        return JsonObject.builder()
                .put(
                        "runtimePids",
                        array(findings.processes().stream()
                                .filter(info -> info.role() == ProcessRole.RUNTIME)
                                .<JsonValue>map(info -> JsonNumber.of(info.ref().pid()))
                                .toList()))
                .put("shims", count(ProcessRole.SHIM))
                .put("inContainers", count(ProcessRole.CONTAINER))
                .put("ociRuntimeCommands", count(ProcessRole.OCI_RUNTIME))
                .put("cniPlugins", count(ProcessRole.CNI_PLUGIN))
                .build();
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

    private static JsonValue conditionJson(RuntimeCondition condition) {
        return JsonObject.builder()
                .put("type", condition.type())
                .put("status", condition.status())
                .putUnlessEmpty("reason", condition.reason())
                .putUnlessEmpty("message", condition.message())
                .build();
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
        return json.put("confidence", culprit.confidence().text())
                .put("evidence", JsonArray.ofStrings(culprit.evidence()))
                .put(
                        "remedies",
                        array(culprit.remedies().stream()
                                .map(remedy -> (JsonValue) remedy(remedy).build())
                                .toList()))
                .build();
    }

    private static JsonObject.Builder remedy(Remedy remedy) {
        return JsonObject.builder()
                .put("action", remedy.text())
                .put("loses", remedy.loses())
                .put("needsForce", remedy.needsForce())
                .put("automatic", !(remedy instanceof Remedy.Advice));
    }

    private static JsonValue step(RepairStep step) {
        return remedy(step.remedy())
                .put("needsForce", step.needsForce())
                .put("reason", step.culprit().reason())
                .put("decision", step.decision().name())
                .putUnlessEmpty("note", step.why())
                .build();
    }

    private static JsonValue attempt(Attempt attempt) {
        return remedy(attempt.step().remedy())
                .put("reason", attempt.step().culprit().reason())
                .put("outcome", attempt.outcome().name())
                .put("detail", attempt.detail())
                .put("causeGone", attempt.causeGone())
                .build();
    }

    private static JsonArray array(List<JsonValue> items) {
        return new JsonArray(items);
    }

    private void row(String name, String value) {
        line("  " + name + " ".repeat(Math.max(1, 18 - name.length())) + value);
    }

    private void line(String line) {
        // Names and command lines of processes are what containers choose.
        text.append(Printable.line(line)).append('\n');
    }

    private static String time(Duration took) {
        return GoDuration.format(Duration.ofMillis(took.toMillis()));
    }
}
