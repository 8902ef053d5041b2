package io.nodekeeper.client;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Jitter;
import io.nodekeeper.time.Loop;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a handler up to date about a set of objects: lists them, watches from the list's revision, resumes a broken
 * watch from the last revision that it saw, and lists again when the server no longer has the history (410). Retries
 * failures with backoff, and closes a watch that sends nothing for {@link #SILENCE_LIMIT}. If watches are accepted and nothing
 * comes for that long, however many there are, it lists again. Confined to its client's loop, on which the handler is called.
 */
public final class Reflector {
    /** Receives the changes of the objects of a reflector. */
    public interface Handler {
        /**
         * The first page of a list is about to be requested. States of objects that the handler learns elsewhere from now
         * on may be newer than those in the next {@link #onReplace}. Called again if the list starts again.
         */
        default void onListing() {}

        /**
         * The parts of a listed object that {@link #parts} and {@link #onReplace} need, by the object alone. Called on any thread,
         * while the page is parsed: a parsed object takes many times its bytes, and only one of a page is in memory.
         */
        default JsonObject reduced(JsonObject object) {
            return object;
        }

        /**
         * The parts of a {@link #reduced} object that {@link #onReplace} needs, by what the handler knows. A list is held
         * until its last page has come.
         */
        default JsonObject parts(JsonObject object) {
            return object;
        }

        /** Receives the {@link #parts} of all current objects; any other object that the handler knows was deleted. */
        void onReplace(List<JsonObject> objects);

        /** {@code object} was created or changed. */
        void onChange(JsonObject object);

        /** {@code object} was deleted; this is its last state. */
        void onDelete(JsonObject object);
    }

    /** A handler that reads some events faster than the full parser does. */
    public interface RawHandler extends Handler {
        /** The result for an event that the full parser must read. */
        long NOT_TAKEN = 0;

        /**
         * One event of a watch, as its line of JSON in {@code [from, to)}, before it is parsed. A handler must accept
         * only events that create, change or delete an object, and must not keep {@code line}.
         *
         * @return {@code metadata.resourceVersion} of the object if the handler has processed it, else {@link
         *     #NOT_TAKEN}
         */
        long onRawEvent(byte[] line, int from, int to);
    }

    private static final Logger log = LoggerFactory.getLogger(Reflector.class);
    /**
     * The pauses between attempts. After an API server's restart, watchers must return well within a grace period, but
     * with jitter, so that they do not all return at the same time.
     */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(2));
    /** Objects in one page of a list (client-go's pager), unless they are so large that a page is longer than a reply may be. */
    private static final int PAGE = 500;
    /** The server ends a watch after a random 5–10 min, as client-go requests. */
    private static final int WATCH_SECONDS = 300;
    /**
     * A watch that lasted at least as long as the longest pause does not count as failed, however it ended; its next
     * attempt needs no backoff.
     */
    private static final Duration LIVED = Duration.ofSeconds(10);
    /**
     * How long the server may take to accept a watch: the time within which a handler must learn of a failure is some
     * graces long, and a healthy server takes milliseconds.
     */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);
    /**
     * A server sends a bookmark about each minute. After two missed ones and a margin of 30 s the connection counts as
     * dead; a shorter limit would close idle watches whose bookmark is only late. What does not change at a server without
     * bookmarks is listed each time.
     */
    private static final Duration SILENCE_LIMIT = Duration.ofSeconds(150);

    private final KubeClient client;
    /** For lists. */
    private final KubeClient lists;

    private final Selection selection;
    private final RandomGenerator random;
    private final Handler handler;
    private final @Nullable RawHandler rawHandler;
    private final Loop loop;

    private String resourceVersion = "";
    /** If not 0, the newest version, in place of {@link #resourceVersion}: no string is made for each raw event. */
    private long rawVersion;

    /** What the handler needs of the pages so far of the current list. Bound: the objects themselves, of which it holds as much anyway. */
    private List<JsonObject> pages = new ArrayList<>();

    /** Objects to request in the next page: fewer after a page that was too long, more again after each other one. */
    private int page = PAGE;

    private int failures;
    /** Counts watches, so that late events of a closed one are ignored. */
    private int generation;

    private boolean stopped;
    private long openedAt;
    private long heardAt;
    /** Whether the current watch was accepted, and has sent nothing since. */
    private boolean silent;
    /** Whether silence leads to a list. */
    private boolean listsAfterSilence = true;
    /** How long accepted watches, which have ended, sent nothing since anything came, in nanoseconds. */
    private long silence;

    private Transport.@Nullable Stream stream;
    private Loop.@Nullable Timer watchdog;
    /** The timer of the next attempt. */
    private Loop.@Nullable Timer waiting;

    /** Creates a reflector that has not started; a {@link RawHandler} gets raw events first. */
    public Reflector(KubeClient client, Selection selection, RandomGenerator random, Handler handler) {
        this.client = client;
        this.lists = client.keepingOfItems(handler::reduced);
        this.selection = selection;
        this.random = random;
        this.handler = handler;
        this.rawHandler = handler instanceof RawHandler raw ? raw : null;
        this.loop = client.loop();
    }

    /** From now on silence leads to another watch only: its caller lists meanwhile. To be called before {@link #start}. */
    public void keepRevisionInSilence() {
        listsAfterSilence = false;
    }

    /** Starts to list and watch. */
    public void start() {
        loop.execute(this::next);
    }

    /** Stops. */
    public void stop() {
        loop.execute(() -> {
            stopped = true;
            abandon();
        });
    }

    /**
     * Closes the current watch, or ends the wait for the next attempt, and continues immediately from the last revision
     * seen.
     */
    public void reopen() {
        loop.execute(() -> {
            if (stream != null || waiting != null) {
                log.info("watch of {}: reopened", selection);
                abandon();
                next();
            }
        });
    }

    private void next() {
        waiting = null;
        if (stopped) {
            return;
        }
        if (listsAfterSilence && silence >= SILENCE_LIMIT.toNanos()) {
            // Another watch from the same revision may stay as silent, and the handler would not learn what has
            // changed.
            setVersion("");
        }
        if (version().isEmpty()) {
            pages = new ArrayList<>();
            try {
                handler.onListing();
            } finally {
                list("");
            }
        } else {
            watch();
        }
    }

    /** Requests a page of the list; {@code token} is the continue token, empty for the first page. */
    private void list(String token) {
        String query = selection.query() + "&limit=" + page
                + (token.isEmpty() ? "" : "&continue=" + URLEncoder.encode(token, StandardCharsets.UTF_8));
        // As a separate task on the loop, so that a failing handler is logged like any other task.
        lists.list(selection.type(), selection.namespace(), query.substring(1))
                .whenComplete((list, error) -> loop.execute(() -> listed(Optional.ofNullable(list), error, token)));
    }

    private void listed(Optional<JsonObject> list, @Nullable Throwable error, String token) {
        if (stopped) {
            return;
        }
        if (error != null
                && !token.isEmpty()
                && Failures.cause(error) instanceof ApiException refusal
                && refusal.code() == 410) {
            // The history expired before the last page: list from the beginning, after a wait.
            retry("list", "the server no longer has the revision of the first page");
            return;
        }
        if (page > 1 && error != null && Failures.cause(error).getCause() instanceof LongReplyException) {
            page = Math.max(1, page / 4);
            log.info("list of {}: {}; {} objects are requested at once", selection, Failures.text(error), page);
            list(token);
            return;
        }
        if (error != null || list.isEmpty()) {
            retry("list", error == null ? "no answer" : Failures.text(error));
            return;
        }
        String version = list.get().object("metadata").text("resourceVersion");
        if (version.isEmpty()) {
            retry("list", "the server's list has no metadata.resourceVersion");
            return;
        }
        list.get().array("items").objects().map(handler::parts).forEach(pages::add);
        page = Math.min(PAGE, 2 * page);
        String rest = list.get().object("metadata").text("continue");
        if (!rest.isEmpty()) {
            list(rest);
            return;
        }
        List<JsonObject> all = pages;
        pages = new ArrayList<>();
        setVersion(version);
        silence = 0;
        try {
            handler.onReplace(all);
        } finally {
            next();
        }
    }

    private void watch() {
        int mine = ++generation;
        int seconds = WATCH_SECONDS + random.nextInt(WATCH_SECONDS);
        openedAt = loop.clock().nanoTime();
        heardAt = openedAt;
        expect(mine, ANSWER_LIMIT, "the server did not accept it in time");
        String query = selection.query() + "&allowWatchBookmarks=true&resourceVersion=" + version() + "&timeoutSeconds="
                + seconds;
        stream = client.watch(selection.type(), selection.namespace(), query, new Transport.StreamHandler() {
            @Override
            public void onOpen() {
                if (mine == generation) {
                    heardAt = loop.clock().nanoTime();
                    silent = true;
                    expect(mine, SILENCE_LIMIT, "nothing received, not even a bookmark");
                }
            }

            @Override
            public void onLine(byte[] line) {
                heard(mine);
                event(mine, line, 0, line.length);
            }

            @Override
            public void onLines(Lines lines) {
                heard(mine);
                events(mine, lines);
            }

            @Override
            public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {
                if (mine == generation) {
                    if (refusal.isPresent()) {
                        refused(ApiException.fromBody(
                                refusal.get().status(), refusal.get().body()));
                    } else {
                        ended(why.map(Failures::text).orElse("ended by the server"));
                    }
                }
            }
        });
    }

    private void heard(int mine) {
        if (mine == generation) {
            heardAt = loop.clock().nanoTime();
            silent = false;
            silence = 0;
        }
    }

    /**
     * Closes the watch {@code mine} unless it sends something within {@code limit}, or another expectation replaces
     * this one.
     */
    private void expect(int mine, Duration limit, String otherwise) {
        if (watchdog != null) {
            watchdog.cancel();
        }
        // An event only records its time; the timer is set again when it fires, not for each event.
        Duration left = limit.minusNanos(loop.clock().nanoTime() - heardAt);
        watchdog = loop.schedule(left, () -> {
            if (mine != generation) {
                return;
            }
            if (loop.clock().nanoTime() - heardAt < limit.toNanos()) {
                expect(mine, limit, otherwise);
            } else {
                ended(otherwise);
            }
        });
    }

    /** A line that fails is logged like a failing task of the loop, and the others are still processed. */
    private void events(int mine, Lines lines) {
        RuntimeException failure = null;
        for (int i = 0; i < lines.count(); i++) {
            try {
                event(mine, lines.bytes(), lines.from(i), lines.to(i));
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else if (failure != e) {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void event(int mine, byte[] line, int from, int to) {
        if (mine != generation) {
            return;
        }
        if (rawHandler != null) {
            long version = rawHandler.onRawEvent(line, from, to);
            if (version != RawHandler.NOT_TAKEN) {
                rawVersion = version;
                failures = 0;
                return;
            }
        }
        JsonObject event;
        try {
            event = Json.parseObject(Arrays.copyOfRange(line, from, to));
        } catch (JsonException e) {
            ended("unreadable event: " + e.getMessage());
            return;
        }
        JsonObject object = event.object("object");
        String type = event.text("type");
        if (type.equals("ERROR")) {
            refused(ApiException.fromStatus(500, object));
            return;
        }
        String version = object.object("metadata").text("resourceVersion");
        if (!version.isEmpty()) {
            setVersion(version);
        }
        failures = 0;
        switch (type) {
            case "ADDED", "MODIFIED" -> handler.onChange(object);
            case "DELETED" -> handler.onDelete(object);
            case "BOOKMARK" -> {}
            default -> log.warn("watch of {}: unknown event type \"{}\"", selection, type);
        }
    }

    private String version() {
        return rawVersion == 0 ? resourceVersion : Long.toString(rawVersion);
    }

    private void setVersion(String version) {
        resourceVersion = version;
        rawVersion = 0;
    }

    /** The server refused, immediately or during a watch. */
    private void refused(ApiException refusal) {
        boolean gone = refusal.code() == 410;
        if (gone) {
            log.info("watch of {}: the history has expired, listing again ({})", selection, refusal.getMessage());
        }
        // Servers answer 400 or 504 to a revision that they have not reached, such as one from before a restore.
        if (gone || refusal.code() == 400 || refusal.code() == 504) {
            setVersion("");
        }
        if (gone && failures == 0) {
            abandon();
            failures++;
            next();
        } else {
            ended(refusal.code() + " " + refusal.getMessage());
        }
    }

    private void ended(String why) {
        if (loop.clock().nanoTime() - openedAt >= LIVED.toNanos()) {
            failures = 0;
        }
        abandon();
        retry("watch", why);
    }

    /** Closes the current watch, or cancels the wait for the next one, if there is one. */
    private void abandon() {
        generation++;
        silence += silent ? loop.clock().nanoTime() - heardAt : 0;
        silent = false;
        if (waiting != null) {
            waiting.cancel();
        }
        waiting = null;
        if (watchdog != null) {
            watchdog.cancel();
        }
        if (stream != null) {
            stream.cancel();
        }
        stream = null;
    }

    private void retry(String what, String why) {
        Duration wait = Jitter.stretch(RETRY.delay(failures++), 1.0, random);
        if (failures == 1) {
            log.debug("{} of {}: {}; retrying in {}", what, selection, why, GoDuration.format(wait));
        } else {
            log.info("{} of {}: {}; attempt {} in {}", what, selection, why, failures, GoDuration.format(wait));
        }
        waiting = loop.schedule(wait, this::next);
    }
}
