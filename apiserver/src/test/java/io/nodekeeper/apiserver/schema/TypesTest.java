package io.nodekeeper.apiserver.schema;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.schema.OfficialModels.Place;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The server stores no object that Kubernetes' decoder refuses, with any verb and encoding. */
class TypesTest {
    private static final List<JsonValue> VALUES = Stream.of(
                    "true",
                    "\"text\"",
                    "\"\"",
                    "7",
                    "-1",
                    "1.5",
                    "1e3",
                    "2147483647",
                    "2147483648",
                    "-2147483649",
                    "9223372036854775807",
                    "9223372036854775808",
                    "[]",
                    "{}",
                    "[\"text\"]",
                    "[7]",
                    "[{}]",
                    "{\"any.thing\":\"text\"}",
                    "{\"any.thing\":7}",
                    "{\"any.thing\":{}}",
                    "\"2026-11-21T07:00:00Z\"",
                    "\"2026-11-21\"",
                    "\"16Gi\"",
                    "\"YWJj\"",
                    "\"YWJ\"")
            .map(text -> Json.parse(text))
            .toList();

    private final TestServer server = new TestServer();

    static Stream<Named<Resource>> kinds() {
        return Resources.ALL.stream()
                .filter(resource -> resource.verbs().contains("create"))
                .map(resource -> Named.of(resource.type().qualifiedName(), resource));
    }

    /** The URI for a dry run of a creation. */
    private static String uri(Resource resource) {
        ResourceType type = resource.type();
        String root = type.group().isEmpty() ? "/api/v1/" : "/apis/" + type.apiVersion() + "/";
        return root + (type.namespaced() ? "namespaces/default/" : "") + type.plural() + "?dryRun=All";
    }

    /** Whether the response reports a type error, and not another error. */
    private static boolean isTypeFault(Answer answer) {
        return (answer.status() == 400 || answer.status() == 422)
                && answer.message().contains("cannot be handled as");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    @Tag("W41")
    void eachFieldAcceptsExactlyTheValuesThatGoAccepts(Resource resource) {
        Class<?> model =
                OfficialModels.of(resource.type().apiVersion(), resource.type().kind());
        List<String> wrong = new ArrayList<>();
        for (Place place : OfficialModels.places(model)) {
            for (JsonValue value : VALUES) {
                JsonObject object = place.with(value);
                boolean refused = isTypeFault(server.post(uri(resource), object.toString()));
                boolean taken = OfficialModels.goTakes(place.type(), value);
                if (refused == taken || (!refused && !OfficialModels.gsonTakes(model, object))) {
                    wrong.add(place + " = " + value + (refused ? " is refused" : " is taken"));
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    @Tag("W41")
    void allFieldsOfTheOfficialModelsAreKnown(Resource resource) {
        Class<?> model =
                OfficialModels.of(resource.type().apiVersion(), resource.type().kind());
        List<String> unknown = new ArrayList<>();
        for (Place place : OfficialModels.places(model)) {
            JsonObject object = place.with(Json.parse("null"));
            unknown.addAll(resource.schema().unknownFields(object));
        }
        assertThat(unknown).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{'spec':{'volumes':[{'name':'v','secret':{'secretName':true}}]}} | bool into Go struct field SecretVolumeSource.spec.volumes.secret.secretName of type string",
                "{'spec':7} | number into Go struct field Pod.spec of type v1.PodSpec",
                "{'spec':{'containers':{}}} | object into Go struct field PodSpec.spec.containers of type []v1.Container",
                "{'spec':{'containers':[7]}} | number into Go struct field PodSpec.spec.containers of type v1.Container",
                "{'spec':{'hostNetwork':'true'}} | string into Go struct field PodSpec.spec.hostNetwork of type bool",
                "{'spec':{'priority':2147483648}} | number 2147483648 into Go struct field PodSpec.spec.priority of type int32",
                "{'metadata':{'labels':{'a':1}}} | number into Go struct field ObjectMeta.metadata.labels of type string",
                "{'metadata':{'generation':1.5}} | number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64",
                "{'metadata':{'creationTimestamp':'now'}} | string \"now\" into Go struct field ObjectMeta.metadata.creationTimestamp of type Time: expected an RFC 3339 time, as 2006-01-02T15:04:05Z",
                "{'spec':{'overhead':{'cpu':'many'}}} | string \"many\" into Go struct field PodSpec.spec.overhead of type Quantity: expected a quantity, as 100m, 4, 16Gi or 1e3"
            })
    void refusalHasGosMessageWithTheField(String pod, String fault) {
        Answer answer = server.post("/api/v1/namespaces/default/pods", pod.replace('\'', '"'));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.message())
                .isEqualTo("Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal " + fault);
    }

    @Test
    void nullIsAnAbsentFieldOrAZeroItem() {
        Answer map = server.post(
                "/api/v1/namespaces/default/configmaps",
                "{\"metadata\":{\"name\":\"m\",\"labels\":null,\"creationTimestamp\":null},\"data\":{\"a\":null}}");
        Answer pod = server.post(
                "/api/v1/namespaces/default/pods",
                "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\","
                        + "\"args\":[\"a\",null]}]}}");

        assertThat(map.json().object("data")).hasToString("{\"a\":\"\"}");
        assertThat(map.json().object("metadata").has("labels")).isFalse();
        assertThat(pod.json()
                        .object("spec")
                        .array("containers")
                        .objects()
                        .findFirst()
                        .orElseThrow()
                        .array("args"))
                .hasToString("[\"a\",\"\"]");
    }

    @Test
    void lineEndsInBase64AreRemoved() {
        Answer secret = server.post(
                "/api/v1/namespaces/default/secrets",
                "{\"metadata\":{\"name\":\"s\"},\"data\":{\"a\":\"YWJj\\r\\nZGVm\\n\"}}");

        assertThat(secret.json().object("data")).hasToString("{\"a\":\"YWJjZGVm\"}");
    }

    @Test
    void allWritesAreChecked() {
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("p", ""));
        String uri = "/api/v1/namespaces/default/pods/p";
        String spec = "{\"volumes\":[{\"name\":\"v\",\"secret\":{\"secretName\":true}}]}";
        String whole = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":" + spec + "}";
        String status = "{\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"restartCount\":\"1\"}]}}";
        String json = "[{\"op\":\"add\",\"path\":\"/spec/volumes\",\"value\":[{\"name\":\"v\",\"secret\":"
                + "{\"secretName\":true}}]}]";

        List<Answer> answers = List.of(
                server.put(uri, whole),
                server.put(uri + "/status", status),
                server.patch(TestServer.MERGE, uri, "{\"spec\":" + spec + "}"),
                server.patch(TestServer.STRATEGIC, uri, "{\"spec\":" + spec + "}"),
                server.patch(TestServer.JSON_PATCH, uri, json),
                server.patch(TestServer.MERGE, uri + "/status", status),
                server.patch(TestServer.STRATEGIC, uri + "/status", status),
                server.patch(Yaml.APPLY_MEDIA_TYPE, uri + "?fieldManager=m", whole),
                server.patch(Yaml.APPLY_MEDIA_TYPE, uri + "x?fieldManager=m", whole.replace("\"p\"", "\"px\"")),
                server.ask(
                        TestServer.ADMIN,
                        "POST",
                        "/api/v1/namespaces/default/pods",
                        Map.of("content-type", "application/yaml"),
                        "metadata: {name: y}\nspec: {volumes: [{name: v, secret: {secretName: yes please, optional: 7}}]}"),
                server.post(uri + "/eviction", "{\"apiVersion\":\"policy/v1\",\"deleteOptions\":{\"dryRun\":true}}"),
                server.post(uri + "/binding", "{\"target\":{\"name\":7}}"),
                server.delete(uri, "{\"gracePeriodSeconds\":\"0\"}"));

        assertThat(answers).allSatisfy(answer -> {
            assertThat(answer.status()).isIn(400, 422);
            assertThat(answer.message()).contains("json: cannot unmarshal");
        });
    }
}
