package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.Entry;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

/** The index has the same contents as one ordered map. */
class ObjectIndexTest {
    private final ObjectIndex index = new ObjectIndex();

    private static Entry entry(String key, long revision) {
        return new Entry(key, new byte[] {1}, 1, revision);
    }

    @Test
    void newVersionReplacesTheOldOneInReadsAndLists() {
        index.put(entry("/a/1", 1));
        index.put(entry("/a/2", 2));
        index.put(entry("/a/1", 3));
        assertThat(index.get("/a/1").orElseThrow().modRevision()).isEqualTo(3);
        assertThat(index.below("/a/").values().stream()
                        .map(place -> place.entry().modRevision()))
                .containsExactly(3L, 2L);
        assertThat(index.size()).isEqualTo(2);
    }

    @Test
    void keysOfAnyCharactersAreBelowTheirPrefixAndOthersAreNot() {
        for (String key : List.of("/a", "/a.b/1", "/a/", "/a/\uffff", "/a/\uffff\uffff", "/a/z/1", "/a0", "/b/1")) {
            index.put(entry(key, 1));
        }
        assertThat(index.below("/a/").keySet()).containsExactly("/a/", "/a/z/1", "/a/\uffff", "/a/\uffff\uffff");
        assertThat(index.below("/a/").tailMap("/a/\uffff\uffff\uffff", false)).isEmpty();
        assertThat(index.below("")).hasSize(8);
    }

    @Test
    void removedObjectIsInNeitherAndMayReturn() {
        index.put(entry("/a/1", 1));
        index.remove("/a/1");
        assertThat(index.get("/a/1")).isEmpty();
        assertThat(index.below("/a/")).isEmpty();
        index.put(entry("/a/1", 3));
        assertThat(index.get("/a/1").orElseThrow().modRevision()).isEqualTo(3);
        assertThat(index.below("/a/").firstEntry().getValue().entry().modRevision())
                .isEqualTo(3);
    }

    @Test
    void manyChangesLeaveWhatAnOrderedMapHas() {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(7);
        TreeMap<String, Long> expected = new TreeMap<>();
        for (long revision = 1; revision <= 20_000; revision++) {
            String key = "/" + (char) ('a' + random.nextInt(3)) + "/" + random.nextInt(200);
            if (random.nextInt(3) == 0) {
                index.remove(key);
                expected.remove(key);
            } else {
                index.put(entry(key, revision));
                expected.put(key, revision);
            }
        }
        Map<String, Long> listed = new TreeMap<>();
        index.below("/b/").forEach((key, place) -> listed.put(key, place.entry().modRevision()));
        assertThat(listed).isEqualTo(expected.subMap("/b/", "/c"));
        assertThat(index.size()).isEqualTo(expected.size());
        expected.forEach((key, revision) ->
                assertThat(index.get(key).orElseThrow().modRevision()).isEqualTo(revision));
    }
}
