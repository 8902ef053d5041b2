package io.nodekeeper.api.patch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonTest;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.api.schema.Schemas;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PatchTest {

    /** The table of RFC 7386, appendix A. */
    @ParameterizedTest
    @Tag("W32")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"a\":\"b\"} | {\"a\":\"c\"} | {\"a\":\"c\"}",
                "{\"a\":\"b\"} | {\"b\":\"c\"} | {\"a\":\"b\",\"b\":\"c\"}",
                "{\"a\":\"b\"} | {\"a\":null} | {}",
                "{\"a\":\"b\",\"b\":\"c\"} | {\"a\":null} | {\"b\":\"c\"}",
                "{\"a\":[\"b\"]} | {\"a\":\"c\"} | {\"a\":\"c\"}",
                "{\"a\":\"c\"} | {\"a\":[\"b\"]} | {\"a\":[\"b\"]}",
                "{\"a\":{\"b\":\"c\"}} | {\"a\":{\"b\":\"d\",\"c\":null}} | {\"a\":{\"b\":\"d\"}}",
                "{\"a\":[{\"b\":\"c\"}]} | {\"a\":[1]} | {\"a\":[1]}",
                "[\"a\",\"b\"] | [\"c\",\"d\"] | [\"c\",\"d\"]",
                "{\"a\":\"b\"} | [\"c\"] | [\"c\"]",
                "{\"a\":\"foo\"} | null | null",
                "{\"a\":\"foo\"} | \"bar\" | \"bar\"",
                "{\"e\":null} | {\"a\":1} | {\"e\":null,\"a\":1}",
                "[1,2] | {\"a\":\"b\",\"c\":null} | {\"a\":\"b\"}",
                "{} | {\"a\":{\"bb\":{\"ccc\":null}}} | {\"a\":{\"bb\":{}}}"
            })
    void mergesAsTheRfcSays(String target, String patch, String result) {
        assertThat(MergePatch.apply(Json.parse(target), Json.parse(patch))).hasToString(result);
    }

    private static String strategic(String target, String patch) {
        return StrategicMergePatch.apply(Json.parseObject(target), Json.parseObject(patch), Schemas.NODE)
                .toString();
    }

    private static final String CONDITIONS =
            "{\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\",\"status\":\"True\"}]}}";

    @Test
    @Tag("W33")
    void replacesTaintsAsAWholeAndNullClearsThem() {
        String target = "{\"spec\":{\"taints\":[{\"key\":\"a\"},{\"key\":\"b\"}],\"unschedulable\":true}}";
        assertThat(strategic(target, "{\"spec\":{\"taints\":[{\"key\":\"c\"}]}}"))
                .isEqualTo("{\"spec\":{\"taints\":[{\"key\":\"c\"}],\"unschedulable\":true}}");
        assertThat(strategic(target, "{\"spec\":{\"taints\":null}}")).isEqualTo("{\"spec\":{\"unschedulable\":true}}");
    }

    @Test
    @Tag("W34")
    void mergesConditionsByTypeAndKeepsTheOthers() {
        assertThat(
                        strategic(
                                CONDITIONS,
                                "{\"status\":{\"conditions\":[{\"type\":\"B\",\"status\":\"False\",\"reason\":\"R\"},{\"type\":\"C\"}]}}"))
                .isEqualTo(
                        "{\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\",\"status\":\"False\",\"reason\":\"R\"},{\"type\":\"C\"}]}}");
    }

    @Test
    @Tag("W34")
    void ordersAListAndLeavesNoDirectiveBehind() {
        assertThat(
                        strategic(
                                CONDITIONS,
                                "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"B\"},{\"type\":\"Gone\"},{\"type\":\"A\"}],\"conditions\":[{\"type\":\"A\",\"status\":\"False\"}]}}"))
                .isEqualTo(
                        "{\"status\":{\"conditions\":[{\"type\":\"B\",\"status\":\"True\"},{\"type\":\"A\",\"status\":\"False\"}]}}");
    }

    private static String conditions(String types) {
        return types.chars()
                .mapToObj(type -> "{\"type\":\"" + (char) type + "\"}")
                .collect(Collectors.joining(",", "[", "]"));
    }

    /** The types of the conditions after a patch. */
    private static String patched(String target, String patch) {
        return Json.parseObject(strategic(
                        "{\"status\":{\"conditions\":" + conditions(target) + "}}", "{\"status\":{" + patch + "}}"))
                .object("status")
                .array("conditions")
                .objects()
                .map(condition -> condition.text("type"))
                .collect(Collectors.joining());
    }

    @ParameterizedTest
    @Tag("W34")
    @CsvSource({
        "ab, c, cab",
        "ab, ba, ba",
        "ab, ab, ab",
        "abc, c, abc",
        "abc, cx, abcx",
        "abc, xc, xabc",
        "abc, xa, xabc",
        "abcd, db, acdb",
        "abca, b, aabc",
        "'', ab, ab"
    })
    void itemsHaveTheOrderOfThePatchAndNewOnesComeFirst(String target, String patch, String result) {
        assertThat(patched(target, "\"conditions\":" + conditions(patch))).isEqualTo(result);
    }

    @ParameterizedTest
    @Tag("W34")
    @CsvSource({"0AaBb, '', BA, 0aBAb", "abc, x, cx, abcx", "abc, x, xc, xabc", "ab, x, bxa, bxa", "'', ab, ba, ba"})
    void demandedOrderCountsMoreThanThatOfThePatch(String target, String patch, String order, String result) {
        String changes = patch.isEmpty() ? "" : ",\"conditions\":" + conditions(patch);
        assertThat(patched(target, "\"$setElementOrder/conditions\":" + conditions(order) + changes))
                .isEqualTo(result);
    }

    @Test
    @Tag("W35")
    void deletionsHaveNoEffectOnTheOrder() {
        String delete = "{\"$patch\":\"delete\",\"type\":\"b\"}";
        assertThat(patched("abcd", "\"conditions\":[{\"type\":\"d\"}," + delete + "]"))
                .isEqualTo("acd");
        assertThat(patched("abcd", "\"conditions\":[{\"type\":\"x\"}," + delete + "]"))
                .isEqualTo("xacd");
        assertThat(patched(
                        "abcd",
                        "\"$setElementOrder/conditions\":" + conditions("dca") + ",\"conditions\":[" + delete + "]"))
                .isEqualTo("dca");
    }

    @Test
    @Tag("W35")
    void itemThatAPatchDeletesAndAddsIsNew() {
        assertThat(
                        strategic(
                                CONDITIONS,
                                "{\"status\":{\"conditions\":[{\"type\":\"B\",\"reason\":\"R\"},{\"$patch\":\"delete\",\"type\":\"B\"}]}}"))
                .isEqualTo(
                        "{\"status\":{\"conditions\":[{\"type\":\"B\",\"reason\":\"R\"},{\"type\":\"A\",\"status\":\"True\"}]}}");
    }

    @Test
    @Tag("W34")
    void mergesConditionsOfClaimsByType() {
        assertThat(StrategicMergePatch.apply(
                        Json.parseObject(CONDITIONS),
                        Json.parseObject("{\"status\":{\"conditions\":[{\"type\":\"B\",\"status\":\"False\"}]}}"),
                        Schemas.of("v1", "PersistentVolumeClaim")))
                .hasToString(
                        "{\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\",\"status\":\"False\"}]}}");
    }

    @Test
    void replacesTheSelectorOfADisruptionBudget() {
        Schema budget = Schemas.of("policy/v1", "PodDisruptionBudget");
        JsonObject live =
                Json.parseObject("{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"1\"}},\"minAvailable\":1}}");
        assertThat(StrategicMergePatch.apply(
                        live, Json.parseObject("{\"spec\":{\"selector\":{\"matchLabels\":{\"b\":\"2\"}}}}"), budget))
                .hasToString("{\"spec\":{\"selector\":{\"matchLabels\":{\"b\":\"2\"}},\"minAvailable\":1}}");
    }

    @Test
    @Tag("W35")
    void deletesOneItemOfAKeyedList() {
        assertThat(strategic(CONDITIONS, "{\"status\":{\"conditions\":[{\"$patch\":\"delete\",\"type\":\"A\"}]}}"))
                .isEqualTo("{\"status\":{\"conditions\":[{\"type\":\"B\",\"status\":\"True\"}]}}");
        assertThat(strategic(CONDITIONS, "{\"status\":{\"conditions\":[{\"$patch\":\"delete\",\"type\":\"X\"}]}}"))
                .isEqualTo(CONDITIONS);
    }

    @Test
    @Tag("W35")
    void replacesAKeyedListAndKeepsTwoAddressesOfOneType() {
        assertThat(
                        strategic(
                                "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"1\"}]}}",
                                "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"2\"},{\"type\":\"Hostname\",\"address\":\"h\"},{\"type\":\"InternalIP\",\"address\":\"3\"},{\"$patch\":\"replace\"}]}}"))
                .isEqualTo(
                        "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"2\"},{\"type\":\"Hostname\",\"address\":\"h\"},{\"type\":\"InternalIP\",\"address\":\"3\"}]}}");
    }

    @Test
    @Tag("W35")
    void deletionsInAListThatReplacesLeaveNothingBehind() {
        assertThat(
                        strategic(
                                CONDITIONS,
                                "{\"status\":{\"conditions\":[{\"$patch\":\"replace\"},{\"$patch\":\"delete\",\"type\":\"A\"},{\"type\":\"C\"}]}}"))
                .isEqualTo("{\"status\":{\"conditions\":[{\"type\":\"C\"}]}}");
    }

    @Test
    @Tag("W40")
    void finalizersOfThePatchKeepTheirPlace() {
        assertThat(strategic(
                        "{\"metadata\":{\"finalizers\":[\"a/b\",\"c/d\"]}}",
                        "{\"metadata\":{\"finalizers\":[\"c/d\"]}}"))
                .isEqualTo("{\"metadata\":{\"finalizers\":[\"a/b\",\"c/d\"]}}");
    }

    @Test
    @Tag("W40")
    void addsToFinalizersAndRemovesFromThem() {
        String target = "{\"metadata\":{\"finalizers\":[\"a/b\",\"c/d\"]}}";
        assertThat(strategic(target, "{\"metadata\":{\"finalizers\":[\"e/f\",\"a/b\"]}}"))
                .isEqualTo("{\"metadata\":{\"finalizers\":[\"e/f\",\"a/b\",\"c/d\"]}}");
        assertThat(strategic(target, "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a/b\"]}}"))
                .isEqualTo("{\"metadata\":{\"finalizers\":[\"c/d\"]}}");
        assertThat(strategic(
                        target,
                        "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a/b\"],\"finalizers\":[\"x/y\"]}}"))
                .isEqualTo("{\"metadata\":{\"finalizers\":[\"x/y\",\"c/d\"]}}");
    }

    @Test
    void retainKeysDropsAllOthers() {
        assertThat(strategic(
                        "{\"spec\":{\"taints\":[{\"key\":\"a\"}],\"podCIDR\":\"x\"}}",
                        "{\"spec\":{\"$retainKeys\":[\"unschedulable\"],\"unschedulable\":true}}"))
                .isEqualTo("{\"spec\":{\"unschedulable\":true}}");
    }

    @Test
    void replacesOrEmptiesAMap() {
        String target = "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}";
        assertThat(strategic(target, "{\"metadata\":{\"labels\":{\"$patch\":\"replace\",\"only\":\"me\"}}}"))
                .isEqualTo("{\"metadata\":{\"labels\":{\"only\":\"me\"}}}");
        assertThat(strategic("{}", "{\"metadata\":{\"labels\":{\"$patch\":\"replace\",\"only\":\"me\"}}}"))
                .isEqualTo("{\"metadata\":{\"labels\":{\"only\":\"me\"}}}");
        assertThat(strategic(target, "{\"metadata\":{\"labels\":{\"$patch\":\"delete\"}}}"))
                .isEqualTo("{\"metadata\":{\"labels\":{}}}");
    }

    @Test
    void directivesInAnAtomicListAreDropped() {
        assertThat(strategic("{}", "{\"spec\":{\"taints\":[{\"$patch\":\"delete\",\"key\":\"a\"}]}}"))
                .isEqualTo("{\"spec\":{\"taints\":[{\"key\":\"a\"}]}}");
    }

    @Test
    void theEmptyPatchChangesNothing() {
        assertThat(strategic(CONDITIONS, "{}")).isEqualTo(CONDITIONS);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"status\":{\"conditions\":[{\"status\":\"True\"}]}}",
                "{\"status\":{\"conditions\":[\"A\"]}}",
                "{\"status\":{\"conditions\":[{\"type\":\"A\",\"$patch\":\"turn\"}]}}",
                "{\"spec\":{\"$patch\":7}}",
                "{\"spec\":{\"$retainKeys\":\"x\"}}",
                "{\"status\":{\"$setElementOrder/conditions\":{}}}",
                "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":\"x\"}}"
            })
    void refusesInvalidPatches(String patch) {
        assertThatThrownBy(() -> strategic(CONDITIONS, patch))
                .isInstanceOfSatisfying(
                        ApiException.class,
                        refused -> assertThat(refused.code()).isEqualTo(422));
    }

    @Test
    void namesTheItemThatLacksItsKey() {
        assertThatThrownBy(() -> strategic(CONDITIONS, "{\"status\":{\"conditions\":[{\"status\":\"True\"}]}}"))
                .hasMessage("map: {\"status\":\"True\"} does not contain declared merge key: type");
    }

    @ParameterizedTest
    @CsvSource({"30, true", "40, false", "200, false"})
    void itemsWithOneKeyMayCopyThreeMebibytesTogether(int items, boolean allowed) {
        // given an item of 100 KB, which each further item with its key copies
        String target = "{\"status\":{\"conditions\":[{\"type\":\"A\",\"message\":\"" + "x".repeat(100_000) + "\"}]}}";
        String patch = IntStream.range(0, items)
                .mapToObj(i -> "{\"type\":\"A\",\"reason\":\"" + i + "\"}")
                .collect(Collectors.joining(",", "{\"status\":{\"conditions\":[", "]}}"));

        if (allowed) {
            assertThat(strategic(target, patch)).endsWith("\"reason\":\"29\"}]}}");
        } else {
            assertThatThrownBy(() -> strategic(target, patch))
                    .hasMessage("the items of the patch with the same type copy more than 3145728 bytes")
                    .isInstanceOfSatisfying(
                            ApiException.class,
                            refused -> assertThat(refused.code()).isEqualTo(413));
        }
    }

    @Test
    void smallItemsMayHaveOneKeyManyTimes() {
        String patch = IntStream.range(0, 1_000)
                .mapToObj(i -> "{\"type\":\"A\",\"status\":\"" + i + "\"}")
                .collect(Collectors.joining(",", "{\"status\":{\"conditions\":[", "]}}"));

        assertThat(strategic(CONDITIONS, patch))
                .isEqualTo("{\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"999\"},"
                        + "{\"type\":\"B\",\"status\":\"True\"}]}}");
    }

    @Test
    void longListsAreMergedInTimeProportionalToTheirLength() {
        String items = IntStream.range(0, 50_000)
                .mapToObj(i -> "{\"type\":\"" + i + "\"}")
                .collect(Collectors.joining(","));
        String patch = "{\"status\":{\"$setElementOrder/conditions\":[" + items + "],\"conditions\":[" + items + "]}}";
        org.junit.jupiter.api.Assertions.assertTimeoutPreemptively(
                java.time.Duration.ofSeconds(20),
                () -> assertThat(strategic("{\"status\":{\"conditions\":[" + items + "]}}", patch))
                        .hasSizeGreaterThan(50_000));
    }

    @Test
    void longListsOfNewItemsAreMergedInTimeProportionalToTheirLength() {
        String live = IntStream.range(0, 50_000)
                .mapToObj(i -> "{\"type\":\"" + i + "\"}")
                .collect(Collectors.joining(","));
        String patch = IntStream.range(0, 50_000)
                .mapToObj(i -> "{\"type\":\"n" + i + "\"},{\"$patch\":\"delete\",\"type\":\"" + i + "\"}")
                .collect(Collectors.joining(","));
        org.junit.jupiter.api.Assertions.assertTimeoutPreemptively(
                java.time.Duration.ofSeconds(20),
                () -> assertThat(strategic(
                                "{\"status\":{\"conditions\":[" + live + "]}}",
                                "{\"status\":{\"conditions\":[" + patch + "]}}"))
                        .startsWith("{\"status\":{\"conditions\":[{\"type\":\"n0\"},{\"type\":\"n1\"}")
                        .endsWith("{\"type\":\"n49999\"}]}}"));
    }

    @Provide
    Arbitrary<JsonValue> values() {
        return JsonTest.values();
    }

    @Property
    void aPatchWithoutListsOrDirectivesMergesAsTheRfcSays(
            @ForAll("values") JsonValue target, @ForAll("values") JsonValue patch) {
        if (target instanceof JsonObject object && patch instanceof JsonObject change) {
            assertThat(StrategicMergePatch.apply(object, change, Schema.open())
                            .fields()
                            .keySet())
                    .isEqualTo(((JsonObject) MergePatch.apply(object, change))
                            .fields()
                            .keySet());
        }
    }
}
