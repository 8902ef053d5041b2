package io.nodekeeper.cli.why;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.DecisionQuery;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What is known of one node.
 *
 * @param node its name, or the requested UID
 * @param source the source of this information, for people
 * @param notes what to know about the source, for people
 * @param facts the node's current state, by name; empty if unknown
 * @param decisions the decisions about it, and about the controller while these were made, newest last
 * @param completeFrom from when on no decision was left out because of a limit or not read; empty if none was at any
 *     time
 */
record Story(
        String node,
        String source,
        List<String> notes,
        JsonObject facts,
        List<Decision> decisions,
        Optional<Instant> completeFrom) {
    /** The facts that only the API has. */
    static final List<String> ADDED = List.of("taints", "cordoned", "problems", "load");
    /** The kind of the entry that says who cordoned the node. */
    static final String CORDONED = "Cordoned";
    /** The beginning of the kind of an event. */
    static final String EVENT = "Event ";

    /** A story without a limit. */
    Story(String node, String source, List<String> notes, JsonObject facts, List<Decision> decisions) {
        this(node, source, notes, facts, decisions, Optional.empty());
    }

    /**
     * This story, whose decisions are the newest {@code limit} at most, or those around a requested time. Before other
     * decisions are added.
     */
    Story limited(int limit, boolean isNewest) {
        if (decisions.size() < limit) {
            return this;
        }
        Instant from = isNewest ? decisions.getFirst().at() : Instant.MAX;
        return new Story(node, source, notes, facts, decisions, Optional.of(from));
    }

    /** This story, if decisions from before {@code since} were not read; the same one if that is empty. */
    Story readSince(Optional<Instant> since) {
        if (since.isEmpty()) {
            return this;
        }
        Instant from = completeFrom.filter(since.get()::isBefore).orElse(since.get());
        String note = "Decisions before " + Times.exact(since.get()) + " UTC are missing: the history could not be read"
                + " further back in the time of a request. \"nodekeeper why NODE --history-dir DIR\" reads all of it.";
        return new Story(node, source, notes, facts, decisions, Optional.of(from)).withNote(note);
    }

    /** This story with one more note. */
    private Story withNote(String note) {
        List<String> all = Stream.concat(notes.stream(), Stream.of(note)).toList();
        return new Story(node, source, all, facts, decisions, completeFrom);
    }

    /** This story with the note that the API could not be read. */
    Story withoutApi(Throwable error) {
        return withNote("Cordons and events are missing: " + Failures.text(error) + ".");
    }

    /** Whether all decisions since {@code time} are here. */
    boolean isCompleteSince(Instant time) {
        return completeFrom.isEmpty() || completeFrom.get().isBefore(time);
    }

    /** Whether nothing is known of the node. */
    boolean isEmpty() {
        return facts.isEmpty() && decisions.isEmpty();
    }

    /** This story with the decisions about the controller itself that were made in the same time. */
    Story withController(List<Decision> controllers) {
        if (decisions.isEmpty()) {
            return this;
        }
        Instant from = decisions.getFirst().at().minus(DecisionQuery.BEFORE);
        return with(controllers.stream()
                .filter(decision -> !decision.at().isBefore(from))
                .toList());
    }

    /** This story with more decisions. */
    Story with(List<Decision> more) {
        List<Decision> all = new ArrayList<>(
                Stream.concat(decisions.stream(), more.stream()).distinct().toList());
        all.sort(Comparator.comparing(Decision::at));
        return new Story(node, source, notes, facts, List.copyOf(all), completeFrom);
    }

    /**
     * This story of a controller with what only the API has: cordons, the events of others, the facts that the
     * controller does not keep, and notes on what the API did not tell.
     */
    Story withApi(Story api) {
        JsonObject.Builder merged = facts.toBuilder();
        ADDED.forEach(name -> api.facts().get(name).ifPresent(value -> merged.put(name, value)));
        List<Decision> more = api.decisions().stream()
                .filter(decision -> decision.kind().equals(CORDONED)
                        || (decision.kind().startsWith(EVENT)
                                && !decision.text().contains("(node-controller")))
                .toList();
        JsonObject known = facts.isEmpty() ? facts : merged.build();
        List<String> all = Stream.concat(notes.stream(), api.notes().stream()).toList();
        return new Story(node, source, all, known, decisions, completeFrom).with(more);
    }

    /** The story as JSON; {@code headline} is its first sentence. */
    JsonObject json(String headline) {
        return JsonObject.builder()
                .put("name", node)
                .put("headline", headline)
                .put("source", source)
                .put("notes", JsonArray.ofStrings(notes))
                .put("node", facts)
                .put(
                        "decisions",
                        new JsonArray(decisions.stream()
                                .<JsonValue>map(Decision::json)
                                .toList()))
                .build();
    }
}
