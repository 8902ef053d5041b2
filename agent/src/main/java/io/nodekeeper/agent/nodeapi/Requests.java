package io.nodekeeper.agent.nodeapi;

import io.nodekeeper.agent.logs.LogOptions;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.client.access.PageRight;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Reads requests to the node's API: paths, parameters and rights are the kubelet's. Pure. */
public final class Requests {
    private static final Set<String> PAGES = Set.of(
            "/healthz",
            "/healthz/ping",
            "/healthz/log",
            "/healthz/syncloop",
            "/metrics",
            "/metrics/resource",
            "/metrics/probes",
            "/stats/summary",
            "/configz",
            "/runningpods/");
    private static final Set<String> METHODS = Set.of("GET", "POST");
    /** The most ports of one request; more than a pod has. */
    private static final int PORTS = 100;

    private Requests() {}

    /** The right that a request requires on {@code node}, whatever else it asks for. */
    public static PageRight right(String node, String method, String path) {
        String verb = switch (method) {
            case "POST" -> "create";
            case "GET" -> "get";
            case "PUT" -> "update";
            case "PATCH" -> "patch";
            case "DELETE" -> "delete";
            default -> "";
        };
        String part = "proxy";
        for (String own : List.of("stats", "metrics", "logs", "checkpoint")) {
            if (path.equals("/" + own) || path.startsWith("/" + own + "/")) {
                part = own.equals("logs") ? "log" : own;
            }
        }
        return new PageRight.NodeRequest(node, part, verb);
    }

    /**
     * What a request asks for.
     *
     * @param path decoded
     * @param now the wall time, from which {@code sinceSeconds} counts
     */
    public static Asked read(String method, String path, Query query, Instant now) {
        List<String> parts = List.of(path.substring(Math.min(1, path.length())).split("/", -1));
        boolean streams = Set.of("exec", "attach", "portForward").contains(parts.getFirst());
        if (!METHODS.contains(method) || (method.equals("POST") && !streams)) {
            return new Asked.Nothing(405, "405: Method Not Allowed");
        }
        if (PAGES.contains(path)) {
            return new Asked.OfPage(path);
        }
        if (path.equals("/pods") || path.equals("/pods/")) {
            return new Asked.Pods();
        }
        if (parts.contains("")) {
            return new Asked.Nothing(404, "404 page not found");
        }
        return switch (parts.getFirst()) {
            case "containerLogs" -> parts.size() == 4 ? log(parts, query, now) : notFound();
            case "exec" -> parts.size() == 4 || parts.size() == 5 ? exec(parts, query) : notFound();
            case "attach" -> parts.size() == 4 || parts.size() == 5 ? attach(parts, query) : notFound();
            case "portForward" -> parts.size() == 3 || parts.size() == 4 ? ports(parts, query) : notFound();
            default -> notFound();
        };
    }

    private static Asked notFound() {
        return new Asked.Nothing(404, "404 page not found");
    }

    private static Asked invalid(String why) {
        return new Asked.Nothing(400, why);
    }

    private static Asked log(List<String> parts, Query query, Instant now) {
        // The older name of tailLines, as in a kubelet.
        String tail = query.text("tail").isEmpty() ? query.text("tailLines") : query.text("tail");
        try {
            OptionalLong lines = number("tailLines", tail, 0);
            OptionalLong limit = number("limitBytes", query.text("limitBytes"), 1);
            OptionalLong seconds = number("sinceSeconds", query.text("sinceSeconds"), 1);
            String time = query.text("sinceTime");
            Optional<Instant> since = time.isEmpty() ? Optional.empty() : KubeTime.parse(time);
            if (since.isEmpty() && !time.isEmpty()) {
                return invalid("sinceTime must be a time in RFC 3339, got \"" + time + "\"");
            }
            if (since.isPresent() && seconds.isPresent()) {
                return invalid("at most one of `sinceTime` or `sinceSeconds` may be specified");
            }
            if (seconds.isPresent()) {
                since = Optional.of(now.minusSeconds(Math.min(seconds.getAsLong(), Integer.MAX_VALUE)));
            }
            return new Asked.Log(
                    parts.get(1),
                    parts.get(2),
                    parts.get(3),
                    query.flag("previous"),
                    new LogOptions(query.flag("follow"), query.flag("timestamps"), lines, since, limit));
        } catch (IllegalArgumentException e) {
            return invalid(String.valueOf(e.getMessage()));
        }
    }

    private static OptionalLong number(String name, String text, long least) {
        if (text.isEmpty()) {
            return OptionalLong.empty();
        }
        String expected = name + " must be a whole number, at least " + least + ", got \"" + text + "\"";
        try {
            long value = Long.parseLong(text);
            if (value < least) {
                throw new IllegalArgumentException(expected);
            }
            return OptionalLong.of(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(expected, e);
        }
    }

    private static Asked exec(List<String> parts, Query query) {
        Optional<RuntimeCall.Streams> streams = streams(query);
        List<String> command = query.all("command");
        if (streams.isEmpty()) {
            return invalid("you must specify at least 1 of stdin, stdout, stderr");
        }
        if (command.isEmpty()) {
            return invalid("you must specify at least 1 command for the container");
        }
        return new Asked.Exec(
                parts.get(1),
                parts.get(2),
                parts.size() == 5 ? parts.get(3) : "",
                parts.getLast(),
                command,
                streams.get());
    }

    private static Asked attach(List<String> parts, Query query) {
        return streams(query)
                .<Asked>map(streams -> new Asked.Attach(
                        parts.get(1), parts.get(2), parts.size() == 5 ? parts.get(3) : "", parts.getLast(), streams))
                .orElseGet(() -> invalid("you must specify at least 1 of stdin, stdout, stderr"));
    }

    /** A terminal has no stream of its own for errors. */
    private static Optional<RuntimeCall.Streams> streams(Query query) {
        boolean tty = query.flag("tty");
        boolean stdin = query.flag("input");
        boolean stdout = query.flag("output");
        boolean stderr = query.flag("error") && !tty;
        return stdin || stdout || stderr
                ? Optional.of(new RuntimeCall.Streams(stdin, stdout, stderr, tty))
                : Optional.empty();
    }

    private static Asked ports(List<String> parts, Query query) {
        List<Integer> ports = new ArrayList<>();
        for (String text : query.all("port")) {
            if (!text.matches("\\d{1,5}") || Integer.parseInt(text) > 65_535 || Integer.parseInt(text) < 1) {
                return invalid("port must be from 1 to 65535, got \"" + text + "\"");
            }
            ports.add(Integer.parseInt(text));
        }
        if (ports.size() > PORTS) {
            return invalid("at most " + PORTS + " ports may be forwarded, got " + ports.size());
        }
        return new Asked.PortForward(parts.get(1), parts.get(2), parts.size() == 4 ? parts.get(3) : "", ports);
    }
}
