package io.nodekeeper.cli.why;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cli.output.Printable;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.Evidence;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Formats a {@link Story} for people: the headline, the state, then the decisions, each with its causes in order. Pure. */
final class WhyReport {
    private static final Map<String, String> LABELS = Map.ofEntries(
            Map.entry("signal", "last heard"),
            Map.entry("sentAt", "sent, by its clock"),
            Map.entry("arrivedAt", "arrived here"),
            Map.entry("lag", "time of each hop"),
            Map.entry("silence", "silent for"),
            Map.entry("grace", "grace period"),
            Map.entry("missedBy", "decided after it by"),
            Map.entry("sight", "could the controller see"),
            Map.entry("writes", "wrote"),
            Map.entry("uid", "UID"),
            Map.entry("ready", "Ready"),
            Map.entry("cause", "reason"),
            Map.entry("lastSignal", "last heartbeat by"),
            Map.entry("lastSignalAt", "last heartbeat at"),
            Map.entry("leaseRenewTime", "lease renewed, by its clock"),
            Map.entry("lastLeaseByItsClock", "lease renewed, by its clock"),
            Map.entry("statusHeartbeatTime", "status sent, by its clock"),
            Map.entry("lastStatusByItsClock", "status sent, by its clock"),
            Map.entry("controllerIsBlind", "the controller is blind"),
            Map.entry("clock", "its clock"),
            Map.entry("lastRenewalLag", "last heartbeat took"),
            Map.entry("suspect", "later than usual"),
            Map.entry("fellFromReady", "times it fell from Ready"),
            Map.entry("declaredUnknownHere", "declared Unknown"),
            Map.entry("underJudgement", "a live read decides now"),
            Map.entry("duplicate", "two machines"),
            Map.entry("otherMachine", "the other machine"),
            Map.entry("dampedUntil", "taints are kept until"),
            Map.entry("plannedEvictions", "pods to be evicted"),
            Map.entry("nextEviction", "first eviction at"),
            Map.entry("nextEvictionIn", "first eviction in"),
            Map.entry("lateMillis", "late by, in ms"),
            Map.entry("podUid", "UID of the pod"),
            Map.entry("hop", "what stalled"),
            Map.entry("how", "verdicts now use"),
            Map.entry("changedAt", "changed, by its clock"),
            Map.entry("lastNotReady", "last not Ready"));
    /** What people need only in JSON. */
    private static final Set<String> HIDDEN = Set.of("resourceVersion");
    /** The facts about a change of Ready that its text has. */
    private static final Set<String> IN_TEXT = Set.of("was", "ready", "reason", "message", "changes");

    private final Instant now;
    private final Times times;
    private final Optional<Instant> at;
    private final StringBuilder text = new StringBuilder();

    private WhyReport(Instant now, Optional<Instant> at) {
        this.now = now;
        this.times = new Times(now);
        this.at = at;
    }

    /** The report, with ages relative to {@code now}; {@code at} is the requested time. */
    static String of(Story story, Instant now, Optional<Instant> at) {
        return new WhyReport(now, at).write(story);
    }

    private String write(Story story) {
        text.append(Headline.of(story, now)).append("\n\n");
        line("As of " + Times.exact(now) + " UTC, from " + story.source() + ".");
        story.notes().forEach(this::line);
        if (!story.facts().isEmpty()) {
            line("");
            line("Now:");
            fields(
                    "  ",
                    story.facts(),
                    story.facts().fields().keySet().stream()
                            .filter(name -> !HIDDEN.contains(name))
                            .toList());
        }
        line("");
        if (story.decisions().isEmpty()) {
            line("No decision about it is stored.");
            return text.toString();
        }
        line("What happened, newest last:");
        boolean marked = at.isEmpty();
        for (Decision decision : story.decisions()) {
            if (!marked && decision.at().isAfter(at.orElse(now))) {
                mark();
                marked = true;
            }
            decision(decision);
        }
        if (!marked) {
            mark();
        }
        return text.toString();
    }

    private void mark() {
        line("");
        line("--- " + time(at.orElse(now)) + " is the requested time ---");
    }

    private void decision(Decision decision) {
        line("");
        line("  " + time(decision.at()) + "  " + decision.kind());
        line("    " + decision.text());
        List<String> names = new ArrayList<>(Evidence.NAMES);
        names.retainAll(decision.details().fields().keySet());
        decision.details().fields().keySet().stream()
                .filter(name -> !names.contains(name))
                .filter(name -> !decision.kind().equals(Decision.READY_CHANGED) || !IN_TEXT.contains(name))
                .forEach(names::add);
        fields("      ", decision.details(), names);
    }

    private void fields(String indent, JsonObject object, List<String> names) {
        int width = names.stream().mapToInt(name -> label(name).length()).max().orElse(0);
        for (String name : names) {
            JsonValue value = object.get(name).orElse(new JsonString(""));
            String start = indent + pad(label(name), width) + "  ";
            List<String> lines = lines(value);
            for (int i = 0; i < lines.size(); i++) {
                line((i == 0 ? start : " ".repeat(start.length())) + lines.get(i));
            }
        }
    }

    private List<String> lines(JsonValue value) {
        return switch (value) {
            case JsonArray array ->
                array.items().isEmpty()
                        ? List.of("none")
                        : array.items().stream().map(this::inline).toList();
            default -> List.of(inline(value));
        };
    }

    private String inline(JsonValue value) {
        return switch (value) {
            case JsonString string ->
                KubeTime.parse(string.value()).map(this::time).orElse(string.value());
            case JsonObject object
            when object.has("call") ->
                object.text("call") + " -> " + object.text("answer")
                        + (object.has("took") ? ", took " + object.text("took") : "");
            case JsonObject object ->
                object.fields().entrySet().stream()
                        .map(field -> label(field.getKey()) + " " + inline(field.getValue()))
                        .collect(Collectors.joining(", "));
            case JsonArray array -> array.items().stream().map(this::inline).collect(Collectors.joining(", "));
            default -> value.toString().replace("true", "yes").replace("false", "no");
        };
    }

    private String time(Instant time) {
        return times.full(time);
    }

    /** {@code lastSignalAt} as {@code last signal at}. */
    static String label(String name) {
        String known = LABELS.get(name);
        return known != null
                ? known
                : name.replaceAll("([a-z])([A-Z])", "$1 $2").replace('_', ' ').toLowerCase(Locale.ROOT);
    }

    private static String pad(String text, int width) {
        return text + " ".repeat(width - text.length());
    }

    private void line(String line) {
        // What others wrote cannot add lines.
        text.append(Printable.line(line).stripTrailing()).append('\n');
    }
}
