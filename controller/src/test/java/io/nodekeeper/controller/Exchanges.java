package io.nodekeeper.controller;

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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A server that answers as a file says. The file has blocks, apart by empty lines: the call without its query, the status,
 * the body. A block answers once, or always if the call's line says so; the first one that fits and is left answers. A
 * {@code WATCH} has lines instead of a body, each with its time since the watch was opened. {@code include NAME} goes on
 * with another file. What no block answers is written down and answered as a server does that knows no such path.
 */
final class Exchanges implements Transport {
    private record Exchange(String call, boolean always, int status, List<String> lines) {}

    private final Loop loop;
    private final List<Exchange> left = new ArrayList<>();
    private final List<Call> calls = new ArrayList<>();
    private final List<String> unanswered = new ArrayList<>();

    Exchanges(String file, Loop loop) {
        this.loop = loop;
        read(file);
    }

    /** The calls so far, watches aside. */
    List<Call> calls() {
        return calls;
    }

    /** The calls that the file does not know. */
    List<String> unanswered() {
        return unanswered;
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        calls.add(call);
        return CompletableFuture.completedFuture(reply(find(call, call.method())));
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        Exchange exchange = find(call, "WATCH");
        if (exchange.status() != 200) {
            handler.onEnd(Optional.of(reply(exchange)), Optional.empty());
            return () -> {};
        }
        handler.onOpen();
        List<Loop.Timer> timers = new ArrayList<>();
        for (String line : exchange.lines()) {
            String[] parts = line.split(" ", 2);
            timers.add(loop.schedule(Duration.parse("PT" + parts[0]), () -> {
                if (parts[1].equals("end")) {
                    handler.onEnd(Optional.empty(), Optional.empty());
                } else {
                    handler.onLine(parts[1].getBytes(StandardCharsets.UTF_8));
                }
            }));
        }
        return () -> timers.forEach(Loop.Timer::cancel);
    }

    @Override
    public void close() {}

    private Exchange find(Call call, String method) {
        String wanted = method + " " + call.target().split("\\?")[0];
        for (Exchange exchange : left) {
            if (exchange.call().equals(wanted)) {
                if (!exchange.always()) {
                    left.remove(exchange);
                }
                return exchange;
            }
        }
        unanswered.add(wanted);
        return new Exchange(wanted, false, 404, List.of("404 page not found"));
    }

    private static Reply reply(Exchange exchange) {
        String body = String.join("\n", exchange.lines()) + "\n";
        return new Reply(exchange.status(), body.getBytes(StandardCharsets.UTF_8));
    }

    private void read(String file) {
        for (String block : text(file).split("\n\n")) {
            List<String> lines =
                    block.lines().filter(line -> !line.startsWith("#")).toList();
            if (lines.isEmpty()) {
                continue;
            }
            String[] call = lines.getFirst().split(" ");
            if (call[0].equals("include")) {
                read(call[1]);
            } else {
                left.add(new Exchange(
                        call[0] + " " + call[1],
                        call.length == 3 && call[2].equals("always"),
                        Integer.parseInt(lines.get(1)),
                        lines.subList(2, lines.size())));
            }
        }
    }

    private static String text(String file) {
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
