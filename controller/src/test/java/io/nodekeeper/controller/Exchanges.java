package io.nodekeeper.controller;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A fake server whose responses come from a file. The file has blocks, separated by empty lines. Lines that start with
 * {@code #} are comments, and an indented line continues the line before:
 * <pre>
 * METHOD PATH                  a call, without its query. The block answers once; with "always" every time; with
 * 200                          "if WORD" only a body with that word; with "after 409" only after such an answer. The
 * {…}                          first matching block answers.
 *
 * METHOD PATH
 * 200 MODIFIED COLLECTION      the same, and the watches of that collection deliver the object of the answer
 * {…}
 *
 * WATCH PATH always
 * 200                          with "stalls 20s 100s": delivers nothing between these times since the start
 * 8s+10s {…}                   after 8 s and then each 10 s; without "+": once
 * 170s end
 *
 * LET NAME                     the value of $NAME
 * …
 *
 * INCLUDE FILE
 * </pre>
 * {@code $version} is a new version, {@code $now} the time, {@code $body.a.b} a field of the request, and {@code
 * $stored.a.b} a field of the object at the call's path, as the server last listed, wrote or watched it. A call that
 * matches no block is recorded and gets the answer for an unknown path.
 */
final class Exchanges implements Transport {
    /** How long the server takes to answer, and its watches to tell of what it wrote. */
    private static final Duration ANSWER = Duration.ofMillis(5);

    private static final Duration TELL = Duration.ofMillis(20);
    private static final Pattern BLANK = Pattern.compile("\\$([a-z][a-z0-9-]*)((?:\\.[a-zA-Z]+)*)");

    /** A call and its answer. */
    record Exchange(Call call, Reply reply) {
        String line() {
            return call.method() + " " + path(call);
        }

        JsonObject sent() {
            return Json.parseObject(call.body());
        }

        JsonObject answered() {
            return Json.parseObject(reply.body());
        }
    }

    private record Block(String call, String condition, List<String> status, List<String> lines) {}

    private record Watch(String path, StreamHandler handler, Duration stallsFrom, Duration stallsUntil) {}

    private final Loop loop;
    private final List<Block> left = new ArrayList<>();
    private final Map<String, String> lets = new HashMap<>();
    private final Map<String, JsonObject> stored = new HashMap<>();
    private final List<Watch> watches = new ArrayList<>();
    private final List<Exchange> exchanges = new ArrayList<>();
    private final List<String> unanswered = new ArrayList<>();
    private final long start;
    private int version = 1001;

    Exchanges(String file, Loop loop) {
        this.loop = loop;
        this.start = loop.clock().nanoTime();
        read(file);
    }

    /** What was said so far, watches aside. */
    List<Exchange> exchanges() {
        return exchanges;
    }

    /** The calls that the file does not know. */
    List<String> unanswered() {
        return unanswered;
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        Block block = find(call, call.method());
        String body = fill(String.join("", block.lines()), call);
        Reply reply =
                new Reply(Integer.parseInt(block.status().getFirst()), (body + "\n").getBytes(StandardCharsets.UTF_8));
        exchanges.add(new Exchange(call, reply));
        if (reply.status() < 300) {
            keep(path(call), Json.parseObject(body));
        }
        if (block.status().size() > 1) {
            loop.schedule(TELL, () -> tell(block.status().get(2), block.status().get(1), body));
        }
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        loop.schedule(ANSWER, () -> answer.complete(reply));
        return answer;
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        Block block = find(call, "WATCH");
        boolean stalls = block.status().size() > 1;
        Watch watch = new Watch(
                path(call),
                handler,
                stalls ? duration(block.status().get(2)) : Duration.ZERO,
                stalls ? duration(block.status().get(3)) : Duration.ZERO);
        watches.add(watch);
        handler.onOpen();
        List<Loop.Timer> timers = new ArrayList<>();
        Duration end = duration(block.lines().getLast().split(" ")[0]);
        for (String line : block.lines().subList(0, block.lines().size() - 1)) {
            String[] parts = line.split(" ", 2);
            String[] times = parts[0].split("\\+");
            Duration at = duration(times[0]);
            do {
                timers.add(loop.schedule(at, () -> line(watch, fill(parts[1], call))));
                at = at.plus(times.length == 1 ? end : duration(times[1]));
            } while (at.compareTo(end) < 0);
        }
        timers.add(loop.schedule(end, () -> {
            watches.remove(watch);
            handler.onEnd(Optional.empty(), Optional.empty());
        }));
        return () -> {
            watches.remove(watch);
            timers.forEach(Loop.Timer::cancel);
        };
    }

    @Override
    public void close() {}

    private void tell(String path, String type, String object) {
        for (Watch watch : List.copyOf(watches)) {
            if (watch.path().equals(path)) {
                line(watch, "{\"type\":\"" + type + "\",\"object\":" + object + "}");
            }
        }
    }

    private void line(Watch watch, String line) {
        JsonObject object = Json.parseObject(line).object("object");
        keep(watch.path() + "/" + object.object("metadata").text("name"), object);
        Duration now = Duration.ofNanos(loop.clock().nanoTime() - start);
        if (now.compareTo(watch.stallsFrom()) >= 0 && now.compareTo(watch.stallsUntil()) < 0) {
            loop.schedule(watch.stallsUntil().minus(now), () -> deliver(watch, line));
        } else {
            deliver(watch, line);
        }
    }

    private void deliver(Watch watch, String line) {
        if (watches.contains(watch)) {
            watch.handler().onLine(line.getBytes(StandardCharsets.UTF_8));
        }
    }

    private void keep(String path, JsonObject object) {
        stored.put(key(path), object);
        object.array("items")
                .objects()
                .forEach(item ->
                        stored.put(key(path + "/" + item.object("metadata").text("name")), item));
    }

    /** Kind and name in a path: {@code nodes/n1}, whatever is before or behind. */
    private static String key(String path) {
        String[] parts = path.replace("/status", "").split("/");
        return parts[parts.length - 2] + "/" + parts[parts.length - 1];
    }

    private Block find(Call call, String method) {
        String wanted = method + " " + path(call);
        for (Block block : left) {
            if (block.call().equals(wanted) && holds(block.condition(), call)) {
                if (!block.condition().equals("always")) {
                    left.remove(block);
                }
                return block;
            }
        }
        unanswered.add(wanted);
        return method.equals("WATCH")
                ? new Block(wanted, "", List.of("200"), List.of("100000s end"))
                : new Block(wanted, "", List.of("404"), List.of("404 page not found"));
    }

    private boolean holds(String condition, Call call) {
        String[] words = condition.split(" ");
        return switch (words[0]) {
            case "if" -> text(call).contains("\"" + words[1] + "\"");
            case "after" ->
                exchanges.stream()
                        .anyMatch(earlier ->
                                Integer.toString(earlier.reply().status()).equals(words[1]));
            default -> true;
        };
    }

    private String fill(String text, Call call) {
        Matcher blanks = BLANK.matcher(text);
        StringBuilder filled = new StringBuilder();
        while (blanks.find()) {
            String value = value(blanks.group(1), blanks.group(2), call);
            blanks.appendReplacement(filled, Matcher.quoteReplacement(value));
        }
        return blanks.appendTail(filled).toString();
    }

    private String value(String name, String field, Call call) {
        return switch (name) {
            case "version" -> Integer.toString(++version);
            case "now" -> KubeTime.formatMicro(loop.clock().wallTime());
            case "body" -> field(Json.parseObject(call.body()), field).toString();
            case "stored" -> field(known(stored, key(path(call))), field).toString();
            default -> fill(known(lets, name), call) + field;
        };
    }

    private static <T> T known(Map<String, T> all, String name) {
        return Optional.ofNullable(all.get(name)).orElseThrow(() -> new AssertionError("nothing is known of " + name));
    }

    private static JsonValue field(JsonObject object, String path) {
        JsonValue value = object;
        for (String name : path.substring(1).split("\\.")) {
            value = ((JsonObject) value)
                    .get(name)
                    .orElseThrow(() -> new AssertionError("no " + path + " in " + object));
        }
        return value;
    }

    private static Duration duration(String text) {
        return Duration.parse("PT" + text);
    }

    private static String path(Call call) {
        return call.target().split("\\?")[0];
    }

    private static String text(Call call) {
        return new String(call.body(), StandardCharsets.UTF_8);
    }

    private void read(String file) {
        for (String block : content(file).split("\n\n")) {
            List<String> lines = new ArrayList<>();
            for (String line : block.split("\n")) {
                if (line.startsWith(" ")) {
                    lines.add(lines.removeLast() + line.strip());
                } else if (!line.startsWith("#")) {
                    lines.add(line);
                }
            }
            if (!lines.isEmpty()) {
                add(lines);
            }
        }
    }

    private void add(List<String> lines) {
        String[] first = lines.getFirst().split(" ", 3);
        switch (first[0]) {
            case "INCLUDE" -> read(first[1]);
            case "LET" -> lets.put(first[1], String.join("", lines.subList(1, lines.size())));
            default ->
                left.add(new Block(
                        first[0] + " " + first[1],
                        first.length == 3 ? first[2] : "",
                        List.of(lines.get(1).split(" ")),
                        List.copyOf(lines.subList(2, lines.size()))));
        }
    }

    private static String content(String file) {
        try (InputStream in = Exchanges.class.getResourceAsStream("/exchanges/" + file)) {
            if (in == null) {
                throw new IllegalArgumentException("no such file in exchanges: " + file);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
