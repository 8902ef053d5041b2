package io.nodekeeper.cli.why;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.controller.debug.DebugAddress;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.DecisionQuery;
import io.nodekeeper.controller.history.FileHistory;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;

/** Reads what is known of a node from the best reachable source, and prints it. */
public final class WhyProcess {
    /** The deadline of each request to the API: far more than it takes, and a person waits at a terminal. */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);
    /**
     * The deadline for the controller's page, whose address may be unreachable; a page may read many files of history.
     */
    private static final Duration PAGE_TIMEOUT = Duration.ofSeconds(20);

    private final WhyCommand command;
    private final Instant asked;
    private final PrintWriter err;
    private final ThreadLoop loop = new ThreadLoop("why");

    private WhyProcess(WhyCommand command, Instant asked, PrintWriter err) {
        this.command = command;
        this.asked = asked;
        this.err = err;
    }

    /** Prints the answer, with ages relative to the time of its arrival; returns the exit code. */
    public static int run(WhyCommand command, Clock clock, PrintWriter out, PrintWriter err) throws IOException {
        Instant asked = clock.wallTime();
        WhyProcess process = new WhyProcess(command, asked, err);
        try {
            Story story = process.story();
            if (story.isEmpty()) {
                err.println("error: nothing is known of node \"" + command.node + "\" to " + story.source());
                story.notes().forEach(err::println);
                err.flush();
                return CommandRunner.FAILED;
            }
            out.print(
                    command.output == Output.json
                            ? Json.writePretty(story.json()) + "\n"
                            : WhyReport.of(story, clock.wallTime(), command.time(asked)));
            out.flush();
            return CommandRunner.OK;
        } catch (CompletionException e) {
            throw new IOException(Failures.text(e), e);
        } finally {
            process.loop.close();
        }
    }

    private Story story() throws IOException {
        if (command.historyDir.isPresent()) {
            DecisionQuery query = new DecisionQuery(command.node, command.time(asked), command.limit);
            List<Decision> found =
                    FileHistory.read(command.historyDir.get(), query, damage -> err.println("unreadable: " + damage));
            return new Story(
                    command.node, "the history in " + command.historyDir.get(), List.of(), JsonObject.EMPTY, found);
        }
        return command.server.isPresent() ? asked(command.server.get()) : found();
    }

    /** Asks the controller that the API names, or else the API. */
    private Story found() {
        HttpTransport transport = new HttpTransport(command.kubeconfig.access());
        try {
            KubeClient client = new KubeClient(transport, loop, CALL_TIMEOUT);
            Optional<URI> address = DebugAddress.find(client).join();
            String why = "no controller has published its address (annotation " + DebugAddress.ANNOTATION + ")";
            if (address.isPresent()) {
                try {
                    Story story = asked(address.get());
                    if (!story.isEmpty()) {
                        return story;
                    }
                    why = "the controller at " + address.get() + " knows nothing of the node";
                } catch (IOException e) {
                    why = e.getMessage();
                }
            }
            return ApiStory.read(
                            client,
                            command.node,
                            List.of(
                                    "The controller was not asked: " + why + ".",
                                    "Conditions, taints and events show what was done, not why."))
                    .join();
        } finally {
            transport.close();
        }
    }

    private Story asked(URI server) throws IOException {
        String at = command.time(asked)
                .map(time -> "&at=" + URLEncoder.encode(KubeTime.formatMicro(time), StandardCharsets.UTF_8))
                .orElse("");
        String target = "/debug/nodes/" + URLEncoder.encode(command.node, StandardCharsets.UTF_8) + "?limit="
                + command.limit + at;
        Transport transport = new HttpTransport(
                new ServerAccess(server, List.of(), false, "", Optional.empty(), "", Optional.empty()));
        try {
            Reply reply = transport.send(Call.get(target), loop, PAGE_TIMEOUT).join();
            String from = "the controller at " + server;
            return switch (reply.status()) {
                case 200 -> story(from, Json.parseObject(reply.body()));
                case 404 -> new Story(command.node, from, List.of(), JsonObject.EMPTY, List.of());
                default ->
                    throw new IOException(from + " answers " + reply.status() + ": "
                            + new String(reply.body(), StandardCharsets.UTF_8).strip());
            };
        } catch (CompletionException e) {
            throw new IOException("the controller at " + server + " cannot be reached: " + Failures.text(e), e);
        } catch (JsonException e) {
            throw new IOException("what is at " + server + " is not a controller: " + e.getMessage(), e);
        } finally {
            transport.close();
        }
    }

    private Story story(String from, JsonObject page) {
        List<Decision> decisions = page.array("decisions")
                .objects()
                .flatMap(json -> Decision.of(json).stream())
                .toList();
        return new Story(command.node, from, List.of(), page.object("node"), decisions);
    }
}
