package io.nodekeeper.cli.ui;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.observe.Observation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * One node's decisions as lanes: spans of its state and of missing heartbeats, marks for everything else, and the
 * periods in which the controller was blind, which apply to all lanes. Pure.
 */
final class Timeline {
    /** What is shown before the first and after the last decision. */
    private static final Duration MARGIN = Duration.ofMinutes(1);

    private final List<Decision> decisions;
    private final Instant from;
    private final Instant to;
    private final Instant now;

    private Timeline(List<Decision> decisions, Optional<Instant> at, Instant now) {
        this.decisions = decisions;
        this.now = now;
        Instant center = at.orElse(now);
        Instant first = decisions.isEmpty() ? center : decisions.getFirst().at();
        from = (first.isBefore(center) ? first : center).minus(MARGIN);
        Instant last = decisions.isEmpty() ? center : decisions.getLast().at();
        Instant wanted = at.isEmpty() ? now : (last.isAfter(center) ? last : center).plus(MARGIN);
        to = wanted.isAfter(now) ? now : wanted;
    }

    /**
     * The lanes.
     *
     * @param node the decisions about the node
     * @param controller the decisions about the controller itself
     * @param at the requested time; empty for now
     */
    static JsonObject of(List<Decision> node, List<Decision> controller, Optional<Instant> at, Instant now) {
        List<Decision> sorted =
                node.stream().sorted(Comparator.comparing(Decision::at)).toList();
        Timeline timeline = new Timeline(sorted, at, now);
        return JsonObject.builder()
                .put("from", KubeTime.formatMicro(timeline.from))
                .put("to", KubeTime.formatMicro(timeline.to))
                .put("states", timeline.states())
                .put("gaps", timeline.gaps())
                .put("marks", timeline.marks())
                .put("blind", blind(controller, timeline.from, timeline.to))
                .build();
    }

    /**
     * The periods without sight in the decisions about the controller. One whose start is not in the list begins at
     * {@code from}; one that has not ended ends at {@code to}.
     */
    static JsonArray blind(List<Decision> controller, Instant from, Instant to) {
        List<JsonValue> periods = new ArrayList<>();
        Optional<Decision> begun = Optional.empty();
        boolean known = false;
        for (Decision decision : controller) {
            String kind = decision.kind();
            boolean blind = kind.equals("ObserverBlind");
            // A new process starts with sight, or reports its blindness itself.
            boolean another = (kind.equals(Observation.BEGINNING) || kind.equals(Observation.END)) && begun.isPresent();
            if (!blind && !another && !kind.equals("ObserverSees")) {
                continue;
            }
            if (blind) {
                // A second one only names another cause.
                begun = begun.or(() -> Optional.of(decision));
            } else {
                Instant start = begun.map(Decision::at).orElse(known ? decision.at() : from);
                add(periods, start, decision.at(), from, to, "blind", decision.text());
                begun = Optional.empty();
            }
            known = true;
        }
        begun.ifPresent(open -> add(periods, open.at(), to, from, to, "blind", open.text()));
        return new JsonArray(periods);
    }

    /** The node's state from each verdict or report to the next. */
    private JsonArray states() {
        List<JsonValue> spans = new ArrayList<>();
        Optional<Decision> begun = Optional.empty();
        for (Decision decision : decisions) {
            if (state(decision).isEmpty()) {
                continue;
            }
            begun.ifPresent(before -> addState(spans, before, decision.at()));
            begun = Optional.of(decision);
        }
        begun.ifPresent(last -> addState(spans, last, now));
        return new JsonArray(spans);
    }

    private void addState(List<JsonValue> spans, Decision decision, Instant end) {
        add(spans, decision.at(), end, from, to, state(decision), decision.text());
    }

    /** The state that begins with a decision; empty if it changes none. */
    private static String state(Decision decision) {
        return switch (decision.kind()) {
            case "Unknown" -> "unknown";
            case "Removed" -> "gone";
            case "Registered", "Returned", Decision.READY_CHANGED ->
                switch (decision.details().text("ready")) {
                    case "True" -> "ready";
                    case "False" -> "notReady";
                    case "Unknown" -> "unknown";
                    default -> "new";
                };
            default -> "";
        };
    }

    /** From the last heartbeat before each verdict Unknown until the node returned or was removed. */
    private JsonArray gaps() {
        List<JsonValue> spans = new ArrayList<>();
        Optional<Decision> begun = Optional.empty();
        for (Decision decision : decisions) {
            switch (decision.kind()) {
                case "Unknown" -> begun = Optional.of(decision);
                case "Returned", "Removed" -> {
                    begun.ifPresent(open -> addGap(spans, open, decision.at()));
                    begun = Optional.empty();
                }
                default -> {}
            }
        }
        begun.ifPresent(open -> addGap(spans, open, now));
        return new JsonArray(spans);
    }

    private void addGap(List<JsonValue> spans, Decision unknown, Instant end) {
        Instant heard = KubeTime.parse(unknown.details().text("arrivedAt")).orElse(unknown.at());
        add(spans, heard, end, from, to, "gap", unknown.text());
    }

    /** Each decision in its lane; {@code index} is its place in the order of time. */
    private JsonArray marks() {
        List<JsonValue> marks = new ArrayList<>();
        for (int i = 0; i < decisions.size(); i++) {
            Decision decision = decisions.get(i);
            if (!decision.at().isBefore(from) && !decision.at().isAfter(to)) {
                marks.add(JsonObject.builder()
                        .put("at", KubeTime.formatMicro(decision.at()))
                        .put("lane", lane(decision))
                        .put("kind", decision.kind())
                        .put("text", decision.text())
                        .put("index", i)
                        .build());
            }
        }
        return new JsonArray(marks);
    }

    private static String lane(Decision decision) {
        String kind = decision.kind();
        if (decision.details().has("pod") || kind.startsWith("Evict") || kind.startsWith("Pod")) {
            return "pods";
        }
        if (kind.contains("=") || kind.startsWith("Event ") || kind.startsWith("DuplicateNode")) {
            return "problems";
        }
        return switch (kind) {
            case "Unknown", "Returned", "Registered", "Removed", Decision.READY_CHANGED -> "state";
            case "Suspected", "Spared", "ClockSet" -> "heartbeats";
            case "Cordoned" -> "cordon";
            default -> "taints";
        };
    }

    private static void add(
            List<JsonValue> spans, Instant start, Instant end, Instant from, Instant to, String state, String text) {
        Instant first = start.isBefore(from) ? from : start;
        Instant last = end.isAfter(to) ? to : end;
        if (first.isBefore(last)) {
            spans.add(JsonObject.builder()
                    .put("from", KubeTime.formatMicro(first))
                    .put("to", KubeTime.formatMicro(last))
                    .put("state", state)
                    .put("text", text)
                    .build());
        }
    }
}
