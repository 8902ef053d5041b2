package io.nodekeeper.api.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

public class JsonTest {

    @Provide
    public static Arbitrary<JsonValue> values() {
        Arbitrary<String> texts = Arbitraries.strings().ofMaxLength(8).filter(JsonTest::isWhole);
        Arbitrary<JsonValue> leaves = Arbitraries.oneOf(
                texts.map(JsonString::new),
                Arbitraries.longs().map(JsonNumber::of),
                Arbitraries.doubles().map(number -> new JsonNumber(Double.toString(number))),
                Arbitraries.of(JsonBool.TRUE, JsonBool.FALSE, JsonNull.NULL));
        return Arbitraries.recursive(
                () -> leaves,
                inner -> Arbitraries.oneOf(
                        inner.list().ofMaxSize(4).map(JsonArray::new),
                        Arbitraries.maps(texts, inner).ofMaxSize(4).map(JsonTest::object)),
                0,
                3);
    }

    private static JsonObject object(Map<String, JsonValue> fields) {
        return JsonObject.copyOf(new LinkedHashMap<>(fields));
    }

    private static boolean isWhole(String text) {
        return text.equals(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
    }

    @Property
    void readsBackWhatItWrote(@ForAll("values") JsonValue value) {
        assertThat(Json.parse(Json.writeBytes(value))).isEqualTo(value);
        assertThat(Json.parse(Json.writePretty(value))).isEqualTo(value);
    }

    @Property
    void readsAnyBytesOrSaysWhyNot(@ForAll byte[] bytes) {
        try {
            JsonValue value = Json.parse(bytes);
            assertThat(Json.parse(Json.writeBytes(value))).isEqualTo(value);
        } catch (JsonException e) {
            assertThat(e.getMessage()).isNotBlank().doesNotContain("\n");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"b\":1,\"a\":2}",
                "[1e400,-0,0.10,123456789012345678901234567890]",
                "\"\\u0000\\n\\\"\\\\\"",
                "{\"\":null}",
                "\"\uD83D\uDE00\""
            })
    void keepsOrderAndTheLiteralsOfNumbers(String text) {
        assertThat(Json.write(Json.parse(text))).isEqualTo(text);
    }

    @Test
    void recognizesWholeNumbersOf64Bits() {
        JsonObject object = Json.parseObject("""
                {"max":9223372036854775807,"over":9223372036854775808,"min":-9223372036854775808,"half":0.5,"exp":1e3}""");
        assertThat(object.number("max")).contains(Long.MAX_VALUE);
        assertThat(object.number("min")).contains(Long.MIN_VALUE);
        assertThat(object.number("over")).isEmpty();
        assertThat(object.number("half")).isEmpty();
        assertThat(object.number("exp")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "{\"a\":1,}",
                "[1,]",
                "{a:1}",
                "'a'",
                "NaN",
                "01",
                "+1",
                "1 2",
                "{} x",
                "\"\t\"",
                "\"\\x\"",
                "nul",
                "\"\\ud800\"",
                "{\"\\udc00\":1}",
                "\"\\ud800a\""
            })
    void refusesInvalidJson(String text) {
        assertThatThrownBy(() -> Json.parse(text)).isInstanceOf(JsonException.class);
    }

    @Test
    void refusesARepeatedField() {
        assertThatThrownBy(() -> Json.parse("{\"a\":1,\"a\":2}"))
                .isInstanceOf(JsonException.class)
                .hasMessage("duplicate field \"a\"");
    }

    /** Kubernetes limits neither the types of conditions nor the names of variables, which are names of fields in managedFields. */
    @ParameterizedTest
    @ValueSource(ints = {999, 1_023, 1_024, 1_025, 49_999, 60_000, 1_500_000})
    void namesOfFieldsHaveNoLimit(int length) {
        String name = "k:" + "é" + "x".repeat(length - 4);

        JsonObject read = Json.parseObject("{\"a\":1,\"" + name + "\":{\"" + name + "\":[2]},\"b\":3}");

        assertThat(read.object(name).array(name)).hasToString("[2]");
        assertThat(read.number("b")).contains(3L);
    }

    @Test
    void repetitionsBeforeAndAfterALongNameAreReportedOnce() {
        List<String> repeated = new ArrayList<>();
        String text = "{\"a\":1,\"a\":2,\"" + "x".repeat(2_000) + "\":3,\"b\":4,\"b\":5,\"a\":6}";

        Json.parseBody(text.getBytes(StandardCharsets.UTF_8), repeated::add);

        assertThat(repeated).containsExactly("a", "b", "a");
    }

    @Test
    void refusesNestingBeyondTheLimitAndNoSooner() {
        assertThat(Json.parse("[".repeat(200) + "]".repeat(200)).kind()).isEqualTo("array");
        assertThatThrownBy(() -> Json.parse("[".repeat(201) + "]".repeat(201))).isInstanceOf(JsonException.class);
        assertThatThrownBy(() -> Json.parse("[".repeat(1_000_000))).isInstanceOf(JsonException.class);
    }

    @Test
    void refusesNumbersOfHundredsOfDigits() {
        assertThatThrownBy(() -> Json.parse("1".repeat(101))).isInstanceOf(JsonException.class);
    }

    @Test
    void saysWhichKindCameInsteadOfAnObject() {
        assertThatThrownBy(() -> Json.parseObject("[1]")).hasMessage("expected a JSON object, got array");
    }

    @Test
    void readingMethodsAnswerWithTheEmptyValueForAbsentNullAndWrongTypes() {
        JsonObject object = Json.parseObject("{\"n\":null,\"t\":\"x\",\"i\":1,\"b\":true,\"o\":{},\"a\":[]}");
        assertThat(object.text("i")).isEmpty();
        assertThat(object.text("absent")).isEmpty();
        assertThat(object.number("t")).isEmpty();
        assertThat(object.bool("t")).isFalse();
        assertThat(object.object("a")).isSameAs(JsonObject.EMPTY);
        assertThat(object.array("o")).isSameAs(JsonArray.EMPTY);
        assertThat(object.has("n")).isFalse();
        assertThat(object.get("n")).contains(JsonNull.NULL);
        assertThat(object.texts()).containsExactly(Map.entry("t", "x"));
    }

    @Test
    void aBuilderLeavesTheObjectsItMadeAlone() {
        JsonObject.Builder builder = JsonObject.builder().put("a", 1);
        JsonObject first = builder.build();
        builder.put("b", true).remove("a");
        assertThat(first).hasToString("{\"a\":1}");
        assertThat(builder.build()).hasToString("{\"b\":true}");
        assertThat(first.update("o", inner -> inner.with("x", "y"))).hasToString("{\"a\":1,\"o\":{\"x\":\"y\"}}");
    }

    @Test
    void identitiesAreEqualForEqualValuesOnly() {
        assertThat(Json.identity(Json.parse("{\"a\":[{\"b\":1,\"c\":null}],\"d\":\"e\"}")))
                .isEqualTo(Json.identity(Json.parse("{\"d\":\"e\",\"a\":[{\"c\":null,\"b\":1}]}")));
        assertThat(Stream.of(
                                "1",
                                "1.0",
                                "\"1\"",
                                "[1]",
                                "[\"1\"]",
                                "{\"1\":1}",
                                "true",
                                "\"true\"",
                                "null",
                                "\"null\"",
                                "[]")
                        .map(Json::parse)
                        .map(Json::identity))
                .doesNotHaveDuplicates();
    }

    @Test
    void ofAListOnlyTheWantedPartsOfItsItemsAreKept() {
        JsonObject list = Json.parseList("""
                {"kind":"L","metadata":{"items":[{"a":1,"b":2}]},"items":[{"a":1,"b":{"items":[{"b":2}]}},7,{"b":2}]}""".getBytes(StandardCharsets.UTF_8), item -> item.without("b"));

        assertThat(list).hasToString("""
                {"kind":"L","metadata":{"items":[{"a":1,"b":2}]},"items":[{"a":1},7,{}]}""");
    }

    @Test
    void ofAnObjectOnlyTheWantedFieldsAreRead() {
        // given an object with fields of all kinds, of which skipped ones may even repeat a field
        byte[] text = """
                {"kind":"K","metadata":{"name":"n","labels":{"a":{"b":[1,{"c":2}]}}},"skipped":{"a":1,"a":[{}]},
                 "rules":[{"verbs":["get"],"other":{"verbs":1}},7,[{"verbs":8,"x":9}]],"spec":{"x":{"y":"\\u0061"}},"none":null}
                """.getBytes(StandardCharsets.UTF_8);

        JsonObject read = Json.parseFields(text, Json.parseObject("""
                {"metadata":{"name":true},"rules":{"verbs":true},"spec":true,"none":true,"absent":{"x":true}}"""));

        assertThat(read).hasToString("""
                {"metadata":{"name":"n"},"rules":[{"verbs":["get"]},7,[{"verbs":8}]],"spec":{"x":{"y":"a"}},"none":null}""");
    }

    @Test
    void anObjectOfWhichFieldsAreWantedIsRefusedLikeAnyOther() {
        JsonObject wanted = JsonObject.EMPTY.with("a", "");
        for (String bad : List.of("[{}]", "", "{\"b\":", "{\"b\":[}", "{\"a\":1} 2", "{\"a\":{\"c\":1,\"c\":2}}")) {
            assertThatThrownBy(() -> Json.parseFields(bad.getBytes(StandardCharsets.UTF_8), wanted))
                    .as(bad)
                    .isInstanceOf(JsonException.class);
        }
    }

    @Test
    void aListIsRefusedLikeAnyOtherObject() {
        for (String bad : List.of("[{}]", "{\"items\":[{}", "{\"items\":[{\"a\":1,\"a\":2}]}", "")) {
            assertThatThrownBy(() -> Json.parseList(bad.getBytes(StandardCharsets.UTF_8), item -> JsonObject.EMPTY))
                    .isInstanceOf(JsonException.class);
        }
    }
}
