package io.nodekeeper.apiserver.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Parts of the server that follow objects and fail at one of them, in virtual time. */
class PrefixFollowerTest {
    private static final String ROLES = "/registry/roles/default/";

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final VirtualTime.VirtualLoop loop = time.loop("store");
    private final IndexedStore store = new IndexedStore(loop, Journal.NONE);
    private final List<String> taken = new ArrayList<>();
    /** How often the next call fails. */
    private int failures;

    private void follow() {
        PrefixFollower.follow(store, loop, ROLES, this::begin, this::change);
        time.advance(Duration.ZERO);
    }

    private void begin(List<Entry> now) {
        fail();
        taken.add(now.stream().map(PrefixFollowerTest::name).collect(Collectors.joining(" ", "all: ", "")));
    }

    private void change(Event event) {
        fail();
        taken.add(name(event.after().orElseThrow()));
    }

    private void fail() {
        if (failures > 0) {
            failures--;
            throw new IllegalStateException("a fault");
        }
    }

    private static String name(Entry entry) {
        return entry.key().substring(ROLES.length());
    }

    private void write(String name) {
        store.put(ROLES + name, new byte[1], 0);
        time.advance(Duration.ZERO);
    }

    @Test
    void changeThatFailsIsTakenUpWithAllOthersAtOnce() {
        follow();
        write("a");

        failures = 1;
        write("b");
        write("c");

        assertThat(taken).containsExactly("all: ", "a", "all: a b", "c");
    }

    @Test
    void listThatFailsIsTriedAgainEveryFiveSeconds() {
        // given two failures at the start
        write("a");
        failures = 2;
        follow();

        // then the third attempt, ten seconds later, succeeds
        time.advance(Duration.ofMillis(9_999));
        assertThat(taken).isEmpty();
        time.advance(Duration.ofMillis(1));
        assertThat(taken).containsExactly("all: a");

        // and changes follow
        write("b");
        assertThat(taken).containsExactly("all: a", "b");
    }
}
