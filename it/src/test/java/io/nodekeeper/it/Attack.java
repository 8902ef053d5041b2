package io.nodekeeper.it;

import io.nodekeeper.it.RawAttacks.Frames;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** What a hostile or heavy client does to the API server, until a time that is given in System.nanoTime. */
enum Attack {
    NONE("nothing, to compare", (prey, until) -> {
        TimeUnit.NANOSECONDS.sleep(until - System.nanoTime());
        return Map.of();
    }),
    YAML_KEY_NOBODY(
            "YAML with a key of 2.9 MB, from a user without rights",
            bodies(Prey.NOBODY, "POST", nodes(), "application/yaml", () -> "x".repeat(RawAttacks.LARGEST) + ": 1\n")),
    YAML_KEY(
            "YAML with a key of 2.9 MB",
            bodies("POST", nodes(), "application/yaml", () -> "x".repeat(RawAttacks.LARGEST) + ": 1\n")),
    YAML_ANCHORS(
            "YAML with 130,000 anchors",
            bodies("POST", nodes(), "application/yaml", () -> many("a: [", 130_000, "&a%d x", "]"))),
    YAML_ALIASES(
            "YAML aliases of aliases",
            bodies(
                    "POST",
                    nodes(),
                    "application/yaml",
                    () -> "a0: &a0 [x]\n" + many("", 40_000, "\na%1$d1: &a%1$d1 [*a0,*a0]", "\n"))),
    JSON_VALUES(
            "a million empty objects",
            bodies(
                    "POST",
                    nodes(),
                    "application/json",
                    () -> "{\"a\":[" + "{},".repeat(RawAttacks.LARGEST / 3) + "{}]}")),
    JSON_DEPTH(
            "lists nested 2,900,000 times",
            bodies("POST", nodes(), "application/json", () -> "{\"a\":" + "[".repeat(RawAttacks.LARGEST))),
    JSON_DUPLICATES(
            "400,000 times the same field",
            bodies(
                    "POST",
                    nodes(),
                    "application/json",
                    () -> "{\"a\":1" + ",\"a\":1".repeat(RawAttacks.LARGEST / 6) + "}")),
    CONTAINERS(
            "a pod with 80,000 containers of one name",
            bodies(
                    "POST",
                    pods(),
                    "application/json",
                    () -> many(
                            "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[",
                            80_000,
                            "{\"name\":\"c\",\"image\":\"i\"}",
                            "]}}"))),
    TAINTS(
            "a node with 60,000 taints",
            bodies(
                    "POST",
                    nodes(),
                    "application/json",
                    () -> many(
                            "{\"metadata\":{\"name\":\"t\"},\"spec\":{\"taints\":[",
                            60_000,
                            "{\"key\":\"k%d\",\"effect\":\"NoSchedule\"}",
                            "]}}"))),
    TAINTED("a node with 35,000 NoExecute taints that reports its status again and again", (prey, until) -> {
        HttpClient client = prey.client(HttpClient.Version.HTTP_1_1);
        String node = many(
                "{\"metadata\":{\"name\":\"tainted\"},\"spec\":{\"taints\":[",
                35_000,
                "{\"key\":\"k%d\",\"effect\":\"NoExecute\"}",
                "]}}");
        int created = prey.send(client, "POST", nodes(), Prey.HEAVY, "application/json", node);
        AtomicInteger number = new AtomicInteger();
        Map<String, Integer> answers = requests(
                prey,
                until,
                4,
                Prey.HEAVY,
                "PATCH",
                nodes() + "/tainted/status",
                "application/merge-patch+json",
                () -> "{\"status\":{\"phase\":\"p" + number.incrementAndGet() + "\"}}");
        prey.send(client, "DELETE", nodes() + "/tainted", Prey.HEAVY, "application/json", "");
        answers.merge(Integer.toString(created), 1, Integer::sum);
        return answers;
    }),
    JSON_PATCHES(
            "JSON patches with 9,999 additions below one parent",
            patches(
                    "application/json-patch+json",
                    many("[", 9_999, "{\"op\":\"add\",\"path\":\"/data/k%d\",\"value\":\"v\"}", "]"))),
    BIG_PATCHES("patches of 1.2 MB, all of one object", (prey, until) -> {
        AtomicInteger number = new AtomicInteger();
        return patches(
                        "application/merge-patch+json",
                        () -> "{\"data\":{\"k\":\"" + number.incrementAndGet() + "x".repeat(1_200_000) + "\"}}")
                .attack(prey, until);
    }),
    STRATEGIC(
            "strategic patches with 40,000 owners",
            patches(
                    "application/strategic-merge-patch+json",
                    many(
                            "{\"metadata\":{\"ownerReferences\":[",
                            40_000,
                            "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\",\"uid\":\"u%d\"}",
                            "]}}"))),
    APPLY(
            "apply of 20,000 fields",
            bodies(
                    "PATCH",
                    maps() + "/applied?fieldManager=m&force=true",
                    "application/apply-patch+yaml",
                    () -> many(
                            "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"applied\"},\"data\":{",
                            20_000,
                            "\"k%d\":\"v\"",
                            "}}"))),
    PROTOBUF(
            "protobuf with a million encodings",
            bodies(
                    "POST",
                    nodes(),
                    "application/vnd.kubernetes.protobuf",
                    () -> "k8s\0\n\n\n\u0002v1\u0012\u0004Node" + "\"\u0001x".repeat(RawAttacks.LARGEST / 3))),
    SELECTORS(
            "lists with a selector of 60 KB",
            gets(16, Prey.HEAVY, nodes() + "?labelSelector=a%3D" + "+".repeat(60_000) + "!")),
    WRITES("4,136 writes of 240 KB to 40 objects", (prey, until) -> {
        AtomicInteger number = new AtomicInteger();
        HttpClient[] clients = clients(prey, 8, HttpClient.Version.HTTP_1_1);
        // All of them, which takes longer than the other attacks.
        long all = Math.max(until, System.nanoTime() + TimeUnit.SECONDS.toNanos(60));
        return Prey.repeat(8, 4_136, all, thread -> {
            int one = number.incrementAndGet();
            return put(prey, clients[thread], "w" + one % 40, one + "x".repeat(240_000));
        });
    }),
    LISTS("lists of 60 objects of 240 KB", lists(maps(), "application/json")),
    LISTS_PROTOBUF("the same lists in protobuf", lists(maps(), "application/vnd.kubernetes.protobuf")),
    LISTS_NOTHING(
            "the same lists with a selector that selects nothing",
            lists(maps() + "?labelSelector=a%3Db", "application/json")),
    DELETIONS("deletions of collections with events of 1.4 MB", (prey, until) -> {
        HttpClient[] clients = clients(prey, 4, HttpClient.Version.HTTP_1_1);
        AtomicInteger number = new AtomicInteger();
        return Prey.repeat(4, 10_000, until, thread -> {
            int one = number.incrementAndGet();
            String path = "/api/v1/namespaces/default/events";
            int status = one % 10 == 0
                    ? prey.send(clients[thread], "DELETE", path, Prey.HEAVY, "application/json", "")
                    : prey.send(
                            clients[thread],
                            "POST",
                            path,
                            Prey.HEAVY,
                            "application/json",
                            "{\"metadata\":{\"name\":\"e" + one + "\"},\"involvedObject\":{\"kind\":\"Pod\","
                                    + "\"namespace\":\"default\",\"name\":\"p\"},\"message\":\""
                                    + "x".repeat(1_000) + "\",\"reason\":\"r\",\"source\":{\"component\":\""
                                    + "x".repeat(1_400_000) + "\"}}");
            return Integer.toString(status);
        });
    }),
    EVENTS("small events as fast as they go", (prey, until) -> {
        HttpClient[] clients = clients(prey, 16, HttpClient.Version.HTTP_2);
        AtomicInteger number = new AtomicInteger();
        return Prey.repeat(
                16,
                200_000,
                until,
                thread -> Integer.toString(prey.send(
                        clients[thread],
                        "POST",
                        "/api/v1/namespaces/default/events",
                        Prey.HEAVY,
                        "application/json",
                        "{\"metadata\":{\"name\":\"s" + number.incrementAndGet()
                                + "\"},\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":\"default\",\"name\":\"p\"},"
                                + "\"message\":\"m\",\"reason\":\"r\"}")));
    }),
    SUBJECTS(
            "150 role bindings with 14,000 users each",
            objects(
                    bindings(),
                    150,
                    many(
                            "{\"metadata\":{\"name\":\"NAME\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"view\"},"
                                    + "\"subjects\":[",
                            14_000,
                            "{\"kind\":\"User\",\"name\":\"NAME-%d\"}",
                            "]}"))),
    REFERENCES(
            "100 pods on nodes with 30,000 secrets each",
            objects(
                    pods(),
                    100,
                    many(
                            "{\"metadata\":{\"name\":\"NAME\"},\"spec\":{\"nodeName\":\"NAME\",\"containers\":[{\"name\":\"c\","
                                    + "\"image\":\"i\",\"envFrom\":[",
                            30_000,
                            "{\"secretRef\":{\"name\":\"s%d\"}}",
                            "]}]}}"))),
    PACKED("800 gets at once of an object of 1 MB, compressed", crowd("application/json", "gzip")),
    CONVERTED(
            "800 gets at once of an object of 1 MB in protobuf",
            crowd("application/vnd.kubernetes.protobuf", "identity")),
    REQUESTS("requests for nothing as fast as they go", gets(32, Prey.NOBODY, "/api/v1/nodes/none")),
    FUTURE("1,000 gets at once of a version to come, from a node", (prey, until) -> {
        HttpClient[] clients = clients(prey, 8, HttpClient.Version.HTTP_2);
        for (HttpClient client : clients) {
            // Otherwise each of the first requests would make a connection of its own.
            prey.send(client, "GET", nodes() + "/hostile", Prey.NODE, "application/json", "");
        }
        return Prey.repeat(1_000, Integer.MAX_VALUE, until, thread -> {
            int status = prey.send(
                    clients[thread % 8],
                    "GET",
                    nodes() + "/hostile?resourceVersion=" + Long.MAX_VALUE,
                    Prey.NODE,
                    "application/json",
                    "");
            if (status == 429) {
                // As the refusal says. Otherwise this process would use the processors for refusals.
                Thread.sleep(1_000);
            }
            return Integer.toString(status);
        });
    }),
    WATCHES(
            "2,000 watches of all nodes from the beginning, none of them read",
            (prey, until) -> RawAttacks.watches(
                    prey,
                    until,
                    20,
                    100,
                    nodes() + "?watch=true&sendInitialEvents=true"
                            + "&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
                    () -> {})),
    SLOW_READERS("200 watches that do not read, while 240 KB objects change", (prey, until) -> {
        HttpClient client = prey.client(HttpClient.Version.HTTP_1_1);
        AtomicInteger number = new AtomicInteger();
        return RawAttacks.watches(prey, until, 20, 10, maps() + "?watch=true", () -> {
            int one = number.incrementAndGet();
            put(prey, client, "w" + one % 40, one + "x".repeat(240_000));
        });
    }),
    SLOW_LISTS("lists that are not read", (prey, until) -> {
        fill(prey, 60);
        return RawAttacks.watches(prey, until, 20, 20, maps(), () -> Thread.sleep(100));
    }),
    BODIES_HELD(
            "300 bodies of 2.9 MB, the last byte of which does not come",
            (prey, until) -> RawAttacks.heldBodies(prey, until, 300, Prey.HEAVY)),
    BODIES_HELD_UNKNOWN(
            "300 bodies of 2.9 MB without a credential, the last byte of which does not come",
            (prey, until) -> RawAttacks.heldBodies(prey, until, 300, "")),
    STREAMS_HELD_UNKNOWN(
            "HTTP/2: 250 streams on each of 1,000 connections without a credential, the bodies of which do not come",
            (prey, until) -> RawAttacks.heldStreams(prey, until, 1_000, 250)),
    RAPID_RESET("HTTP/2: streams that are opened and reset at once", frames(Frames.RAPID_RESET)),
    CONTINUATION("HTTP/2: headers without an end", frames(Frames.CONTINUATION)),
    CONTINUATION_EMPTY("HTTP/2: empty continuations without an end", frames(Frames.EMPTY_CONTINUATION)),
    SETTINGS("HTTP/2: a flood of SETTINGS", frames(Frames.SETTINGS)),
    PING("HTTP/2: a flood of PING", frames(Frames.PING)),
    PRIORITY("HTTP/2: a flood of PRIORITY", frames(Frames.PRIORITY)),
    WINDOW_UPDATE("HTTP/2: a flood of WINDOW_UPDATE", frames(Frames.WINDOW_UPDATE)),
    EMPTY_DATA("HTTP/2: a flood of empty DATA", frames(Frames.EMPTY_DATA)),
    UNKNOWN_FRAMES("HTTP/2: a flood of frames of no known type", frames(Frames.UNKNOWN)),
    HEADER_BOMB("HTTP/2: 60,000 times an indexed header", frames(Frames.HEADER_BOMB)),
    LONG_ACCEPT("HTTP/2: requests without a credential that accept 30,000 types each", frames(Frames.LONG_ACCEPT)),
    SLOW_HEADERS(
            "HTTP/1.1: 500 connections that send a byte of a header now and then",
            (prey, until) -> RawAttacks.slowHeaders(prey, until, 500)),
    PIPELINE("HTTP/1.1: requests without waiting for answers", RawAttacks::pipeline),
    CHUNKS("HTTP/1.1: chunks of one byte with extensions of 8 KB", RawAttacks::chunks),
    KEY_UPDATES(
            "TLS records of 3,276 key updates, without a credential",
            (prey, until) -> RawAttacks.keyUpdates(prey, until, "")),
    KEY_UPDATES_IN_HANDSHAKE("the same in the record that ends the handshake", RawAttacks::keyUpdatesInHandshake),
    KEY_UPDATES_KNOWN(
            "such records after a request with a token",
            (prey, until) -> RawAttacks.keyUpdates(prey, until, Prey.HEAVY)),
    HANDSHAKES("TLS handshakes that are left in the middle", RawAttacks::handshakes),
    IDLE("1,000 connections that ask for nothing", (prey, until) -> RawAttacks.idle(prey, until, 1_000));

    /** How it is done; returns how often each answer came. */
    private interface Way {
        Map<String, Integer> attack(Prey prey, long until) throws Exception;
    }

    private final String text;
    private final Way way;

    Attack(String text, Way way) {
        this.text = text;
        this.way = way;
    }

    /** What is done, for people. */
    String text() {
        return text;
    }

    /** Attacks, and returns how often each answer came. */
    Map<String, Integer> attack(Prey prey, long until) throws Exception {
        return way.attack(prey, until);
    }

    private static String nodes() {
        return "/api/v1/nodes";
    }

    private static String maps() {
        return "/api/v1/namespaces/default/configmaps";
    }

    private static String pods() {
        return "/api/v1/namespaces/default/pods";
    }

    private static String bindings() {
        return "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    }

    /** Creates objects with a name in place of {@code NAME}, all of them, and deletes them. */
    private static Way objects(String path, int count, String body) {
        return (prey, until) -> {
            AtomicInteger number = new AtomicInteger();
            HttpClient[] clients = clients(prey, 8, HttpClient.Version.HTTP_1_1);
            long all = Math.max(until, System.nanoTime() + TimeUnit.SECONDS.toNanos(60));
            Map<String, Integer> answers = Prey.repeat(
                    8,
                    count,
                    all,
                    thread -> Integer.toString(prey.send(
                            clients[thread],
                            "POST",
                            path,
                            Prey.HEAVY,
                            "application/json",
                            body.replace("NAME", "n" + number.incrementAndGet()))));
            prey.send(clients[0], "DELETE", path + "?gracePeriodSeconds=0", Prey.HEAVY, "application/json", "");
            return answers;
        };
    }

    private static String many(String head, int count, String item, String tail) {
        StringBuilder text = new StringBuilder(head);
        for (int i = 0; i < count; i++) {
            text.append(i == 0 ? "" : ",").append(item.contains("%") ? item.formatted(i) : item);
        }
        return text.append(tail).toString();
    }

    private static HttpClient[] clients(Prey prey, int count, HttpClient.Version version) {
        List<HttpClient> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            clients.add(prey.client(version));
        }
        return clients.toArray(HttpClient[]::new);
    }

    /** Eight connections that send the same body again and again. */
    private static Way bodies(String method, String path, String type, Supplier<String> body) {
        return bodies(Prey.HEAVY, method, path, type, body);
    }

    private static Way bodies(String token, String method, String path, String type, Supplier<String> body) {
        return (prey, until) -> {
            String text = body.get();
            return requests(prey, until, 8, token, method, path, type, () -> text);
        };
    }

    /** Reads again and again. */
    private static Way gets(int connections, String token, String path) {
        return (prey, until) -> requests(prey, until, connections, token, "GET", path, "application/json", () -> "");
    }

    /** Nearly as many gets of a large object as four connections may have streams, again and again. */
    private static Way crowd(String type, String encoding) {
        return (prey, until) -> {
            byte[] random = new byte[750_000];
            new Random(1).nextBytes(random);
            put(
                    prey,
                    prey.client(HttpClient.Version.HTTP_1_1),
                    "large",
                    Base64.getEncoder().encodeToString(random));
            HttpClient[] clients = clients(prey, 4, HttpClient.Version.HTTP_2);
            for (HttpClient client : clients) {
                // Otherwise each of the first requests would make a connection of its own.
                prey.get(client, maps() + "/large", type, encoding);
            }
            return Prey.repeat(800, Integer.MAX_VALUE, until, thread -> {
                int status = prey.get(clients[thread % 4], maps() + "/large", type, encoding);
                if (status == 429) {
                    // As the refusal says. Otherwise this process would use the processors for refusals.
                    Thread.sleep(1_000);
                }
                return Integer.toString(status);
            });
        };
    }

    /** Lists objects again and again, in a form. */
    private static Way lists(String path, String type) {
        return (prey, until) -> {
            fill(prey, 60);
            // The time of the lists does not include that of the objects.
            long listed = Math.max(until, System.nanoTime() + TimeUnit.SECONDS.toNanos(4));
            return requests(prey, listed, 16, Prey.HEAVY, "GET", path, type, () -> "");
        };
    }

    private static Way patches(String type, String body) {
        return patches(type, () -> body);
    }

    /** Eight connections that patch one ConfigMap, with a body that is made for each request. */
    private static Way patches(String type, Supplier<String> body) {
        return (prey, until) -> {
            put(prey, prey.client(HttpClient.Version.HTTP_1_1), "patched", "");
            return requests(prey, until, 8, Prey.HEAVY, "PATCH", maps() + "/patched", type, body);
        };
    }

    private static Way frames(Frames frames) {
        return (prey, until) -> RawAttacks.frames(prey, until, frames);
    }

    private static Map<String, Integer> requests(
            Prey prey,
            long until,
            int connections,
            String token,
            String method,
            String path,
            String type,
            Supplier<String> body)
            throws InterruptedException {
        HttpClient[] clients = clients(prey, connections, HttpClient.Version.HTTP_1_1);
        return Prey.repeat(
                connections,
                Integer.MAX_VALUE,
                until,
                thread -> Integer.toString(prey.send(clients[thread], method, path, token, type, body.get())));
    }

    /** Creates a ConfigMap of that text, or replaces it; the HTTP status. */
    private static String put(Prey prey, HttpClient client, String name, String text) throws Exception {
        String body = "{\"metadata\":{\"name\":\"" + name + "\"},\"data\":{\"k\":\"" + text + "\"}}";
        int status = prey.send(client, "PUT", maps() + "/" + name, Prey.HEAVY, "application/json", body);
        if (status == 404) {
            status = prey.send(client, "POST", maps(), Prey.HEAVY, "application/json", body);
        }
        return Integer.toString(status);
    }

    /** Creates ConfigMaps of 240 KB. */
    private static void fill(Prey prey, int count) throws Exception {
        HttpClient client = prey.client(HttpClient.Version.HTTP_1_1);
        for (int i = 0; i < count; i++) {
            put(prey, client, "f" + i, "x".repeat(240_000));
        }
    }
}
