package io.nodekeeper.client;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Json;
import io.nodekeeper.api.JsonException;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Jitter;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a set of objects for ever: lists them, watches from the list's revision, resumes a broken watch from the last
 * revision that it saw, and lists anew when the server no longer has the history (410). Waits with backoff between failed
 * tries. Confined to its client's loop, on which the handler is called.
 */
public final class Reflector {
    /** What becomes of the objects that a reflector follows. */
    public interface Handler {
        /** All objects there are now; whatever the handler knew besides is gone. */
        void onReplace(List<JsonObject> objects);

        /** {@code object} was created or changed. */
        void onChange(JsonObject object);

        /** {@code object} is gone; this is its last state. */
        void onDelete(JsonObject object);
    }

    private static final Logger log = LoggerFactory.getLogger(Reflector.class);
    /** After an API server's restart its watchers must be back well within a grace period, yet not in step. Chosen. */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(2));
    /** The server ends a watch after a random 5–10 min, as client-go asks it to. */
    private static final int WATCH_SECONDS = 300;

    private final KubeClient client;
    private final Selection selection;
    private final RandomGenerator random;
    private final Handler handler;
    private final Loop loop;

    private String resourceVersion = "";
    private int failures;
    private int generation;
    private boolean stopped;
    private boolean expired;
    private Transport.@Nullable Stream stream;

    /** A reflector at rest. */
    public Reflector(KubeClient client, Selection selection, RandomGenerator random, Handler handler) {
        this.client = client;
        this.selection = selection;
        this.random = random;
        this.handler = handler;
        this.loop = client.loop();
    }

    /** Begins to follow. */
    public void start() {
        loop.execute(this::next);
    }

    /** Follows no more. */
    public void stop() {
        loop.execute(() -> {
            stopped = true;
            generation++;
            if (stream != null) {
                stream.cancel();
            }
        });
    }

    private void next() {
        if (stopped) {
            return;
        }
        if (resourceVersion.isEmpty()) {
            list();
        } else {
            watch();
        }
    }

    private void list() {
        String query = selection.query();
        client.list(selection.type(), selection.namespace(), query.isEmpty() ? "" : query.substring(1))
                .whenComplete((list, error) -> {
                    if (stopped) {
                        return;
                    }
                    if (error != null) {
                        retry("list", Failures.text(error));
                        return;
                    }
                    resourceVersion = list.object("metadata").text("resourceVersion");
                    failures = 0;
                    handler.onReplace(list.array("items").objects().toList());
                    next();
                });
    }

    private void watch() {
        int mine = ++generation;
        expired = false;
        String query = selection.query() + "&allowWatchBookmarks=true&resourceVersion=" + resourceVersion
                + "&timeoutSeconds=" + (WATCH_SECONDS + random.nextInt(WATCH_SECONDS));
        stream = client.watch(selection.type(), selection.namespace(), query, new Transport.StreamHandler() {
            @Override
            public void onOpen() {}

            @Override
            public void onLine(byte[] line) {
                if (mine == generation) {
                    event(line);
                }
            }

            @Override
            public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {
                if (mine == generation && !stopped) {
                    ended(refusal, why);
                }
            }
        });
    }

    private void event(byte[] line) {
        JsonObject event;
        try {
            event = Json.parseObject(line);
        } catch (JsonException e) {
            // Half a line means that the connection broke; its end follows.
            log.warn("watch of {}: unreadable event: {}", selection, e.getMessage());
            return;
        }
        JsonObject object = event.object("object");
        switch (event.text("type")) {
            case "ADDED", "MODIFIED" -> handler.onChange(object);
            case "DELETED" -> handler.onDelete(object);
            case "BOOKMARK" -> {}
            case "ERROR" -> {
                failed(ApiException.fromStatus(500, object));
                return;
            }
            default -> {
                log.warn("watch of {}: unknown event type \"{}\"", selection, event.text("type"));
                return;
            }
        }
        failures = 0;
        resourceVersion = object.object("metadata").text("resourceVersion");
    }

    private void failed(ApiException refused) {
        if (refused.code() == 410) {
            log.info("watch of {}: history is gone, listing anew ({})", selection, refused.getMessage());
            resourceVersion = "";
            expired = true;
        } else {
            log.warn("watch of {}: {}", selection, refused.getMessage());
        }
    }

    private void ended(Optional<Reply> refusal, Optional<TransportException> why) {
        generation++;
        refusal.ifPresent(reply -> failed(ApiException.fromBody(reply.status(), reply.body())));
        if (expired && failures == 0) {
            failures++;
            next();
        } else if (refusal.isPresent() || expired) {
            retry("watch", "the server refused");
        } else if (why.isPresent()) {
            retry("watch", Failures.text(why.get()));
        } else {
            retry("watch", "ended by the server");
        }
    }

    private void retry(String what, String why) {
        Duration wait = Jitter.stretch(RETRY.delay(failures++), 1.0, random);
        if (failures == 1) {
            log.debug("{} of {}: {}; again in {}", what, selection, why, wait);
        } else {
            log.info("{} of {}: {}; try {} in {}", what, selection, why, failures, wait);
        }
        loop.schedule(wait, this::next);
    }
}
