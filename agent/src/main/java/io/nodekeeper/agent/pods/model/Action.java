package io.nodekeeper.agent.pods.model;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What a probe or a hook does. Immutable. */
public sealed interface Action {

    /**
     * Runs a command in the container.
     *
     * @param most the bytes of its answer at most; a command that writes more has failed
     */
    record Exec(List<String> command, int most) implements Action {
        /** Of probes and hooks before the end, of which many run at the same time. */
        private static final int MOST = 32 << 10;
        /** After the start of a container, which a pod does one at a time, and which installs things and says so. */
        private static final int MOST_AT_START = 128 << 10;

        /** A command of which many run at the same time. */
        public Exec(List<String> command) {
            this(command, MOST);
        }

        /** The same for a hook after the start of a container. */
        public Exec atStart() {
            return new Exec(command, MOST_AT_START);
        }
    }

    /**
     * Gets a page.
     *
     * @param host empty for the pod's address
     * @param port a number, or the name of a port of the container
     * @param https whether over TLS, without a check of the certificate
     * @param headers in order; a name may be repeated
     */
    record Http(String host, String port, String path, boolean https, List<Header> headers) implements Action {}

    /** One header of a request. */
    record Header(String name, String value) {}

    /** Opens a connection. Host and port as in {@link Http}. */
    record Tcp(String host, String port) implements Action {}

    /** Asks a gRPC server of the pod for the health of {@code service}, which may be empty. */
    record Grpc(int port, String service) implements Action {}

    /** Waits. */
    record Sleep(Duration time) implements Action {}

    /** The action of a probe or of a hook; empty if it has none that this agent knows. */
    static Optional<Action> of(JsonObject json) {
        if (json.has("exec")) {
            return Optional.of(
                    new Exec(json.object("exec").array("command").strings().toList()));
        }
        if (json.has("httpGet")) {
            JsonObject get = json.object("httpGet");
            return Optional.of(new Http(
                    get.text("host"),
                    port(get),
                    get.text("path"),
                    get.text("scheme").equalsIgnoreCase("HTTPS"),
                    get.array("httpHeaders")
                            .objects()
                            .map(header -> new Header(header.text("name"), header.text("value")))
                            .toList()));
        }
        if (json.has("tcpSocket")) {
            JsonObject socket = json.object("tcpSocket");
            return Optional.of(new Tcp(socket.text("host"), port(socket)));
        }
        if (json.has("grpc")) {
            JsonObject grpc = json.object("grpc");
            return Optional.of(new Grpc(grpc.number("port").orElse(0L).intValue(), grpc.text("service")));
        }
        if (json.has("sleep")) {
            long seconds = json.object("sleep").number("seconds").orElse(0L);
            return Optional.of(new Sleep(Duration.ofSeconds(Math.clamp(seconds, 0, Integer.MAX_VALUE))));
        }
        return Optional.empty();
    }

    private static String port(JsonObject json) {
        return json.get("port")
                .map(value -> switch (value) {
                    case JsonNumber number -> number.literal();
                    case JsonString text -> text.value();
                    default -> "";
                })
                .orElse("");
    }
}
