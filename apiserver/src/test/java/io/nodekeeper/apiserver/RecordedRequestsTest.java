package io.nodekeeper.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import io.nodekeeper.apiserver.testing.TestServer.Lines;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.apiserver.wire.ProtobufWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The requests of kubelets and kube-controller-managers 1.26 and 1.32 in the files {@code clients/*.txt}, through
 * authorization, admission and validation. Each file explains its notation, and says which requests are recordings and
 * which follow the clients' sources.
 */
class RecordedRequestsTest {
    private static final Pattern FIELD = Pattern.compile("\\$\\{(\\S+) (\\w+)}");
    private static final Map<String, String> TYPES = Map.of(
            "json", "application/json",
            "protobuf", Protobuf.MEDIA_TYPE,
            "strategic", TestServer.STRATEGIC,
            "merge", TestServer.MERGE,
            "apply", Yaml.APPLY_MEDIA_TYPE);

    /** The encoding of requests and responses. */
    enum Form {
        /** The default of the components. */
        PROTOBUF,
        /** With {@code --kube-api-content-type=application/json}. */
        JSON,
        /** The default of the components, but the client does not accept JSON. */
        ONLY_PROTOBUF
    }

    private final TestServer server;
    private User user = User.ANONYMOUS;
    private final Map<String, String> headers = new HashMap<>();

    RecordedRequestsTest() {
        server = new TestServer(TestServer.serviceAccountAuthenticator());
        server.server.start(Duration.ofHours(1), "-----BEGIN CERTIFICATE-----\n");
        server.settle();
    }

    @ParameterizedTest
    @CsvSource({
        "kubelet-1.26.txt, PROTOBUF, 48",
        "kubelet-1.26.txt, JSON, 48",
        "kubelet-1.26.txt, ONLY_PROTOBUF, 48",
        "kubelet-1.32.txt, PROTOBUF, 53",
        "kubelet-1.32.txt, JSON, 53",
        "kubelet-1.32.txt, ONLY_PROTOBUF, 53",
        "kube-controller-manager-1.26.txt, PROTOBUF, 140",
        "kube-controller-manager-1.26.txt, JSON, 140",
        "kube-controller-manager-1.32.txt, PROTOBUF, 135",
        "kube-controller-manager-1.32.txt, JSON, 135",
        "kube-controller-manager-1.26.txt, ONLY_PROTOBUF, 140",
        "kube-controller-manager-1.32.txt, ONLY_PROTOBUF, 135",
    })
    @Tag("W73")
    @Tag("W74")
    @Tag("W75")
    @Tag("W76")
    void recordedRequestsGetKubernetesResponses(String file, Form form, int count) throws IOException {
        Deque<String> lines = new ArrayDeque<>(read(file));
        List<String> differences = new ArrayList<>();
        int requests = 0;
        while (!lines.isEmpty()) {
            String line = lines.poll();
            List<String> words = List.of(line.split(" "));
            switch (words.getFirst()) {
                case "", "#" -> {}
                case "user" -> user = User.authenticated(words.get(1), words.subList(2, words.size()));
                case "accept" -> headers.put("accept", line.substring("accept ".length()));
                case "agent" -> headers.put("user-agent", line.substring("agent ".length()));
                case "WATCH" -> {
                    requests++;
                    watch(words, differences);
                }
                default -> {
                    requests++;
                    request(words, body(lines), form, differences);
                }
            }
        }
        assertThat(differences).isEmpty();
        assertThat(requests).isEqualTo(count);
    }

    private static List<String> read(String file) throws IOException {
        try (InputStream in = RecordedRequestsTest.class.getResourceAsStream("/clients/" + file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    /** The lines up to the next empty one, with the fields of objects substituted. */
    private String body(Deque<String> lines) {
        StringBuilder body = new StringBuilder();
        while (!lines.isEmpty() && !lines.peek().isEmpty()) {
            body.append(lines.poll());
        }
        return FIELD.matcher(body)
                .replaceAll(field -> Matcher.quoteReplacement(
                        server.get(field.group(1)).json().object("metadata").text(field.group(2))));
    }

    private void request(List<String> words, String body, Form form, List<String> differences) {
        boolean typed = TYPES.containsKey(words.get(2));
        String type = typed ? words.get(2) : "json";
        int status = Integer.parseInt(words.get(typed ? 3 : 2));
        List<String> texts = words.subList(typed ? 4 : 3, words.size());
        Map<String, String> sent = new HashMap<>(headers);
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        if (type.equals("protobuf") && form != Form.JSON) {
            bytes = ProtobufWriter.object(Json.parseObject(bytes)).orElseThrow();
            sent.put("content-type", TYPES.get(type));
        } else if (typed) {
            sent.put("content-type", type.equals("protobuf") ? "application/json" : TYPES.get(type));
        }
        String first = sent.getOrDefault("accept", "").split(",")[0];
        boolean protobuf = form == Form.ONLY_PROTOBUF && first.startsWith(Protobuf.MEDIA_TYPE);
        if (protobuf) {
            sent.put("accept", first);
        }
        var answering = server.server.handle(TestServer.request(user, words.get(0), words.get(1), sent, bytes));
        server.settle();
        Answer answer = TestServer.answer(answering);
        String text = protobuf && Protobuf.begins(answer.bytes()) ? decoded(answer) : answer.text();
        List<String> missing = quoted(texts).stream()
                .filter(expected -> !text.contains(expected))
                .toList();
        if (answer.status() != status || !missing.isEmpty()) {
            differences.add(user.name() + " " + words + ": " + answer.status() + " " + text + ", lacks " + missing);
        }
    }

    /** A protobuf response as text: JSON, or the strings of a message that only responses contain. */
    private static String decoded(Answer answer) {
        String strings = new String(answer.bytes(), StandardCharsets.ISO_8859_1);
        String head = strings.substring(0, Math.min(60, strings.length()));
        return head.contains("Status") || head.contains("PartialObjectMetadata")
                ? strings
                : Protobuf.decode(answer.bytes()).toString();
    }

    /** The tokens of a line: words, or quoted strings. */
    private static List<String> quoted(List<String> words) {
        Matcher texts = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"|(\\S+)").matcher(String.join(" ", words));
        List<String> all = new ArrayList<>();
        while (texts.find()) {
            all.add(texts.group(1) == null ? texts.group(2) : texts.group(1).replace("\\\"", "\""));
        }
        return all;
    }

    private void watch(List<String> words, List<String> differences) {
        assertThat(words.get(2)).isEqualTo("200");
        var answering = server.send(user, "GET", words.get(1), headers, "");
        server.settle();
        if (!(answering.join() instanceof ApiResponse.Streamed streamed)) {
            differences.add(user.name() + " " + words + ": " + TestServer.answer(answering));
            return;
        }
        Lines lines = server.read(streamed);
        String types = String.join(
                " ", lines.events.stream().map(event -> event.text("type")).toList());
        lines.leave();
        String expected = String.join(" ", words.subList(3, words.size()));
        boolean right = expected.startsWith("...")
                ? types.endsWith(expected.substring(3)) && !types.contains("ERROR")
                : types.equals(expected);
        if (!right) {
            differences.add(user.name() + " " + words + ": " + Arrays.toString(lines.events.toArray()));
        }
    }
}
