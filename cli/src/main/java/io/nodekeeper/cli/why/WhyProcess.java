package io.nodekeeper.cli.why;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.Nearest;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.cli.output.Printable;
import io.nodekeeper.cli.source.Answer;
import io.nodekeeper.cli.source.ControllerPages;
import io.nodekeeper.cli.source.NoControllerException;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.DecisionQuery;
import io.nodekeeper.controller.history.FileHistory;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

/** Reads what is known of a node from the best reachable source, and prints it. */
public final class WhyProcess {
    /** The most nodes that are explained if none is named: a screen. */
    private static final int WORST = 10;
    /** The most characters of an answer; a node's conditions and events are limited by the API server. */
    private static final int LONGEST = 4 << 20;

    /** What is missing without a controller. */
    private static final String API_ALONE = "Conditions, taints and events show what was done, not why.";

    private final WhyCommand command;
    private final Instant asked;
    private final PrintWriter err;
    private final ThreadLoop loop = new ThreadLoop("why");
    private final ControllerPages pages;

    private WhyProcess(WhyCommand command, Instant asked, PrintWriter err) {
        this.command = command;
        this.asked = asked;
        this.err = err;
        this.pages = new ControllerPages(command.source, loop, err);
    }

    /** Prints the answer, with ages relative to the time of its arrival; returns the exit code. */
    public static int run(WhyCommand command, Clock clock, PrintWriter out, PrintWriter err) throws IOException {
        WhyProcess process = new WhyProcess(command, clock.wallTime(), err);
        try {
            return command.name().isEmpty() ? process.worst(clock, out) : process.one(clock, out);
        } catch (CompletionException e) {
            throw new IOException(Failures.text(e), e);
        } finally {
            process.pages.close();
            process.loop.close();
        }
    }

    private int one(Clock clock, PrintWriter out) throws IOException {
        Story story = story(command.name());
        if (story.isEmpty()) {
            say("error: nothing is known of node \"" + command.name() + "\" to " + story.source());
            story.notes().forEach(this::say);
            Nearest.hint(command.name(), names()).ifPresent(this::say);
            err.flush();
            return CommandRunner.FAILED;
        }
        Instant now = clock.wallTime();
        if (command.output == Output.json) {
            print(out, story.json(Headline.of(story, now)));
        } else {
            print(out, WhyReport.of(story, now, command.time(asked)));
        }
        return CommandRunner.OK;
    }

    /** The worst nodes, each in one sentence. */
    private int worst(Clock clock, PrintWriter out) throws IOException {
        Answer status = pages.get("/debug/status");
        JsonObject page = status.page()
                .filter(json -> status.notWorking().isEmpty())
                .orElseThrow(() -> new IOException(status.from() + " has no status"
                        + status.notWorking().map(why -> ": " + why).orElse("")));
        List<Story> stories = new ArrayList<>();
        List<String> names = Stream.of("unwell", "duplicates", "suspects")
                .flatMap(list -> page.array(list).objects())
                .map(node -> node.text("name"))
                .distinct()
                .toList();
        for (String name : names.subList(0, Math.min(WORST, names.size()))) {
            stories.add(story(name));
        }
        long unwell = Math.max(names.size(), notReady(page));
        long more = unwell - stories.size();
        Instant now = clock.wallTime();
        if (command.output == Output.json) {
            JsonArray all = new JsonArray(stories.stream()
                    .<JsonValue>map(story -> story.json(Headline.of(story, now)))
                    .toList());
            print(
                    out,
                    JsonObject.builder()
                            .put("sight", page.object("sight"))
                            .put("allNodes", page.number("nodes").orElse(0L))
                            .put("unwellNodes", unwell)
                            .put("nodes", all)
                            .put("more", more)
                            .build());
            return CommandRunner.OK;
        }
        StringBuilder text = new StringBuilder();
        if (page.object("sight").has("blindness")) {
            text.append("The controller is blind: ")
                    .append(Printable.line(page.object("sight").text("blindness")))
                    .append(".\n\n");
        }
        if (stories.isEmpty()) {
            text.append("All ").append(page.number("nodes").orElse(0L)).append(" nodes are Ready, and none is late.\n");
        }
        stories.forEach(story -> text.append(Headline.of(story, now)).append("\n\n"));
        if (more > 0) {
            text.append("And ").append(more).append(" more: nodekeeper status -o wide\n");
        }
        print(out, text.toString().stripTrailing() + "\n");
        return CommandRunner.OK;
    }

    /** How many nodes are not Ready: more than the page lists, if there are very many. */
    private static long notReady(JsonObject status) {
        return Stream.of("notReady", "unknown", "neverReported")
                .mapToLong(count -> status.number(count).orElse(0L))
                .sum();
    }

    private static void print(PrintWriter out, String text) {
        // Texts of nodes and events may contain anything.
        out.print(Printable.text(text, LONGEST));
        out.flush();
    }

    private static void print(PrintWriter out, JsonObject json) {
        out.print(Printable.json(Json.writePretty(json)) + "\n");
        out.flush();
    }

    private void say(String text) {
        err.println(Printable.line(text, Printable.VALUE));
    }

    private Story story(String name) throws IOException {
        if (command.historyDir.isPresent()) {
            Path directory = command.historyDir.get();
            DecisionQuery query = new DecisionQuery(name, command.time(asked), command.limit);
            DecisionQuery.Found found = FileHistory.read(directory, query, damage -> say("unreadable: " + damage));
            return new Story(name, "the history in " + directory, List.of(), JsonObject.EMPTY, found.node())
                    .limited(command.limit, command.at.isEmpty())
                    .withController(found.controller());
        }
        return command.source.hasServer() ? asked(name) : found(name);
    }

    /** Asks the controller, and adds what only the API has; or the API alone. */
    private Story found(String name) throws IOException {
        List<String> notes = new ArrayList<>();
        try {
            Story story = asked(name);
            if (!story.isEmpty()) {
                return withApi(story);
            }
            notes.add("The controller was asked in vain: " + story.source() + " knows nothing of the node.");
            notes.addAll(story.notes());
        } catch (NoControllerException e) {
            notes.add("The controller was not asked: " + Failures.text(e) + ".");
        }
        try {
            return api(name, Stream.concat(notes.stream(), Stream.of(API_ALONE)).toList());
        } catch (CompletionException e) {
            List<String> lines = notes.stream().map(Printable::line).toList();
            throw new IOException("the API cannot be read: " + Failures.text(e) + "\n" + String.join("\n", lines), e);
        }
    }

    /** The story with what only the API has, or with a note that it cannot be read, such as for lack of rights. */
    private Story withApi(Story story) {
        try {
            return story.withApi(api(story.node(), List.of()));
        } catch (CompletionException e) {
            return story.withoutApi(e);
        }
    }

    private Story api(String name, List<String> notes) {
        return ApiStory.read(pages.api(), name, notes).join();
    }

    private Story asked(String name) throws IOException {
        String at = command.time(asked)
                .map(time -> "&at=" + URLEncoder.encode(KubeTime.formatMicro(time), StandardCharsets.UTF_8))
                .orElse("");
        Answer answer = pages.get(
                "/debug/nodes/" + URLEncoder.encode(name, StandardCharsets.UTF_8) + "?limit=" + command.limit + at);
        JsonObject page = answer.page().orElse(JsonObject.EMPTY);
        JsonObject facts = answer.notWorking().isPresent() ? JsonObject.EMPTY : page.object("node");
        List<String> notes = answer.notWorking()
                .map(reason -> List.of("It does not work now: " + reason + "."))
                .orElse(List.of());
        return new Story(name, answer.from(), notes, facts, decisions(page, "decisions"))
                .limited(command.limit, command.at.isEmpty())
                .readSince(KubeTime.parse(page.text("completeSince")))
                .withController(decisions(page, "controller"));
    }

    private static List<Decision> decisions(JsonObject page, String name) {
        return page.array(name)
                .objects()
                .flatMap(json -> Decision.of(json).stream())
                .toList();
    }

    /** The names of all nodes, for a hint at what was meant; empty if they cannot be read. */
    private List<String> names() {
        if (command.historyDir.isPresent() || command.source.hasServer()) {
            return List.of();
        }
        try {
            return pages.api()
                    .list(ResourceType.NODES, "", "")
                    .join()
                    .array("items")
                    .objects()
                    .map(node -> node.object("metadata").text("name"))
                    .toList();
        } catch (CompletionException e) {
            return List.of();
        }
    }
}
