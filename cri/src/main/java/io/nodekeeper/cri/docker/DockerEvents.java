package io.nodekeeper.cri.docker;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.time.Loop;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads one stream of Docker's events about the containers of pods. The next event is read when the loop has processed the last
 * one, so a flood of events waits at the daemon. Blocks its thread while the stream lasts.
 */
final class DockerEvents {
    /** The longest event in bytes. It contains all labels of its container, which may have annotations of 256 KiB. */
    static final int MAX_EVENT = 1 << 20;

    private static final Logger log = LoggerFactory.getLogger(DockerEvents.class);
    private static final String METHOD = "GetContainerEvents";
    /** What dockershim's containers do; an additional process in one, such as a probe, has events of other names. */
    private static final JsonObject FILTER = Labels.filter(Optional.empty())
            .with("type", JsonArray.ofStrings(List.of("container")))
            .with("event", JsonArray.ofStrings(List.of("create", "start", "die", "destroy")));

    private final Loop loop;
    private final Consumer<ContainerEvent> listener;

    DockerEvents(Loop loop, Consumer<ContainerEvent> listener) {
        this.loop = loop;
        this.listener = listener;
    }

    /** Reads events until the stream ends. */
    void read(Exchange exchange, ApiVersion version) throws IOException {
        String path = version.path(
                exchange, "/events?filters=" + URLEncoder.encode(Json.write(FILTER), StandardCharsets.UTF_8));
        HttpReader reader = exchange.stream(path);
        if (reader.status() != 200) {
            byte[] body = HttpReader.readAll(reader.body(), Exchange.MAX_BODY);
            DockerError.check(METHOD, new HttpReply(reader.status(), reader.headers(), body));
            throw new UnreadableException("status 200 was expected, got " + reader.status());
        }
        InputStream lines = new BufferedInputStream(reader.body());
        for (Optional<byte[]> line = line(lines); line.isPresent(); line = line(lines)) {
            event(line.get()).ifPresent(this::deliver);
        }
    }

    /** Waits until the loop has processed it. */
    private void deliver(ContainerEvent event) {
        CompletableFuture<Void> processed = new CompletableFuture<>();
        loop.execute(() -> {
            try {
                listener.accept(event);
            } finally {
                processed.complete(null);
            }
        });
        processed.join();
    }

    /** The next line; empty at the end of the stream. */
    private static Optional<byte[]> line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                return line.size() == 0 ? Optional.empty() : Optional.of(line.toByteArray());
            }
            if (line.size() >= MAX_EVENT) {
                throw new UnreadableException("an event of at most " + MAX_EVENT + " bytes was expected");
            }
            line.write(next);
        }
        return Optional.of(line.toByteArray());
    }

    private static Optional<ContainerEvent> event(byte[] line) {
        if (line.length == 0) {
            return Optional.empty();
        }
        try {
            JsonObject event = Json.parseObject(line);
            JsonObject actor = event.object("Actor");
            return type(event.text("Action"))
                    .filter(type -> !actor.text("ID").isEmpty())
                    .map(type -> new ContainerEvent(
                            actor.text("ID"), actor.object("Attributes").text(Labels.POD_UID), type));
        } catch (JsonException e) {
            log.debug("skipping an event that cannot be parsed", e);
            return Optional.empty();
        }
    }

    private static Optional<ContainerEvent.Type> type(String action) {
        return switch (action) {
            case "create" -> Optional.of(ContainerEvent.Type.CREATED);
            case "start" -> Optional.of(ContainerEvent.Type.STARTED);
            case "die" -> Optional.of(ContainerEvent.Type.STOPPED);
            case "destroy" -> Optional.of(ContainerEvent.Type.DELETED);
            default -> Optional.empty();
        };
    }
}
