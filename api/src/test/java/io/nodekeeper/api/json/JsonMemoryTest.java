package io.nodekeeper.api.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The estimate of memory against the heap. */
class JsonMemoryTest {
    /** Each form takes at most what is estimated, and not less than a fifth of it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"name\":\"a\",\"value\":\"b\"}",
                "{}",
                "[]",
                "[[],[],[]]",
                "[1,2,3,4,5]",
                "{\"a\":{\"b\":{\"c\":{}}}}",
                "\"\u4e00\u4e00\u4e00\u4e00\u4e00\u4e00\u4e00\u4e00\"",
                "{\"unlikely-name-1\":true,\"unlikely-name-2\":false,\"unlikely-name-3\":null}"
            })
    void estimateIsAnUpperBound(String json) {
        int copies = 20_000;
        JsonValue one = Json.parse(json.getBytes(StandardCharsets.UTF_8));
        List<JsonValue> values = new ArrayList<>(copies);
        long before = used();
        for (int i = 0; i < copies; i++) {
            values.add(Json.parse(json.getBytes(StandardCharsets.UTF_8)));
        }
        long each = (used() - before) / copies;

        assertThat(JsonMemory.of(one)).isBetween(each, 5 * Math.max(each, 16));
        assertThat(values).hasSize(copies);
    }

    @Test
    void charactersTakeTwoBytesEachIfOneOfThemNeedsTwo() {
        assertThat(JsonMemory.characters("")).isZero();
        assertThat(JsonMemory.characters("caf\u00e9")).isEqualTo(4);
        assertThat(JsonMemory.characters("caf\u4e00")).isEqualTo(8);
    }

    private static long used() {
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
