package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Which writes form a group, and what they change. */
class WriteGroupTest {
    private final Queue<Write> queue = new ArrayDeque<>();
    private final Map<String, Entry> objects = new HashMap<>();
    private long quota = Long.MAX_VALUE;

    private Write write(String key, Optional<byte[]> value, long expected, boolean batched) {
        Write write = new Write(key, value, expected, batched, new CompletableFuture<>());
        queue.add(write);
        return write;
    }

    private Write put(String key, String value, long expected) {
        return write(key, Optional.of(value.getBytes(StandardCharsets.UTF_8)), expected, false);
    }

    /** The next group after revision 10. */
    private WriteGroup take() {
        StoreSpace space = new StoreSpace(new StoreLimits(WatchCache.Limits.DEFAULT, quota, Long.MAX_VALUE));
        objects.values().forEach(space::add);
        return WriteGroup.take(
                queue, 10, key -> Optional.ofNullable(objects.get(key)), UnaryOperator.identity(), space);
    }

    @Test
    void writesGetTheNextRevisionsAndSeeTheEarlierOnes() {
        objects.put("/a", new Entry("/a", new byte[] {1}, 3, 7));
        Write first = put("/a", "x", 7);
        Write second = put("/a", "y", 11);
        Write third = write("/a", Optional.empty(), 12, true);

        WriteGroup group = take();

        assertThat(group.accepted()).containsExactly(first, second, third);
        assertThat(group.events()).extracting(Event::revision).containsExactly(11L, 12L, 13L);
        Event change = group.events().get(1);
        assertThat(change.before().orElseThrow().value()).asString().isEqualTo("x");
        assertThat(change.after().orElseThrow().value()).asString().isEqualTo("y");
        assertThat(change.after().orElseThrow().createRevision()).isEqualTo(3);
        assertThat(group.events().get(2).after()).isEmpty();
        assertThat(group.batched()).isEqualTo(1);
    }

    @Test
    void writeWithAConflictGetsNoRevisionAndFailsOnlyWithTheGroup() {
        Write won = put("/a", "x", 0);
        Write lost = put("/a", "y", 0);
        Write other = put("/b", "z", 0);

        WriteGroup group = take();

        assertThat(group.accepted()).containsExactly(won, other);
        assertThat(group.events()).extracting(Event::revision).containsExactly(11L, 12L);
        assertThat(lost.done()).isNotDone();
        group.acknowledge();
        assertThat(won.done()).isCompletedWithValue(group.events().getFirst());
        assertThat(lost.done()).isCompletedExceptionally();
    }

    @Test
    void groupIsLimitedInChangesAndInBytes() {
        for (int i = 0; i < 600; i++) {
            put("/" + i, "x", 0);
        }
        assertThat(take().accepted()).hasSize(512);
        assertThat(take().accepted()).hasSize(88);
        assertThat(take().accepted()).isEmpty();

        for (int i = 0; i < 3; i++) {
            write("/" + i, Optional.of(new byte[2 << 20]), 0, false);
        }
        assertThat(take().accepted()).hasSize(2);
        assertThat(take().accepted()).hasSize(1);
    }

    @Test
    void writeWithoutSpaceIsRefusedAndGetsNoRevision() {
        quota = 10;
        Write large = put("/large", "0123456789", 0);
        Write deletion = write("/a", Optional.empty(), 5, false);
        objects.put("/a", new Entry("/a", new byte[] {1}, 5, 5));

        WriteGroup group = take();

        assertThat(group.refused()).containsExactly(large);
        assertThat(group.accepted()).containsExactly(deletion);
        assertThat(group.events()).extracting(Event::revision).containsExactly(11L);
    }

    @Test
    void failedGroupFailsAllItsWriters() {
        Write won = put("/a", "x", 0);
        Write lost = put("/a", "y", 0);

        take().fail(new StoreException("the disk is full", null));

        assertThat(won.done()).isCompletedExceptionally();
        assertThat(lost.done()).isCompletedExceptionally();
    }
}
