package io.nodekeeper.client.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ByteKeyTableTest {
    private final ByteKeyTable<Integer> table = new ByteKeyTable<>();

    @Test
    void findsANameByItsBytes() {
        table.put("node-1", 1);
        byte[] line = "xnode-1x".getBytes(StandardCharsets.US_ASCII);

        assertThat(table.get(line, 1, 6)).isEqualTo(1);
        assertThat(table.get(line, 1, 6, "node-1".hashCode())).isEqualTo(1);
        assertThat(table.get(line, 1, 5)).isNull();
        assertThat(table.get(line, 0, 7)).isNull();
    }

    @Test
    void namesWithTheSameHashAreDistinguished() {
        assertThat("Aa".hashCode()).isEqualTo("BB".hashCode());
        table.put("Aa", 1);
        table.put("BB", 2);

        assertThat(bytes("Aa")).isEqualTo(1);
        assertThat(bytes("BB")).isEqualTo(2);
        assertThat(table.remove("Aa")).isEqualTo(1);
        assertThat(bytes("Aa")).isNull();
        assertThat(bytes("BB")).isEqualTo(2);
    }

    @Test
    void bytesBeyondAsciiAreNoName() {
        table.put("ä", 1);

        assertThat(table.get("ä")).isEqualTo(1);
        assertThat(table.get("ä".getBytes(StandardCharsets.ISO_8859_1), 0, 1)).isNull();
    }

    @Property(tries = 1_000)
    void holdsWhatAHashMapWouldHold(@ForAll long seed) {
        RandomGenerator random = Randoms.seeded(seed);
        ByteKeyTable<Integer> tried = new ByteKeyTable<>();
        Map<String, Integer> map = new HashMap<>();
        // Few names and many, whose hashes are close together.
        int names = random.nextBoolean() ? 12 : 300;
        for (int i = 0; i < 600; i++) {
            String name = "node-" + random.nextInt(names);
            if (random.nextInt(3) == 0) {
                assertThat(tried.remove(name)).isEqualTo(map.remove(name));
            } else {
                tried.put(name, i);
                map.put(name, i);
            }
        }

        assertThat(tried.size()).isEqualTo(map.size());
        for (int i = 0; i < names; i++) {
            String name = "node-" + i;
            assertThat(tried.get(name)).isEqualTo(map.get(name));
            assertThat(bytes(tried, name)).isEqualTo(map.get(name));
        }
        List<Integer> values = new ArrayList<>();
        tried.forEach(values::add);
        assertThat(values).containsExactlyInAnyOrderElementsOf(map.values());
    }

    private @Nullable Integer bytes(String name) {
        return bytes(table, name);
    }

    private static @Nullable Integer bytes(ByteKeyTable<Integer> table, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        return table.get(bytes, 0, bytes.length);
    }
}
