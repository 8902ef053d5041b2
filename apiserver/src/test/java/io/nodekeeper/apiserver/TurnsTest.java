package io.nodekeeper.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Heavy work by turns. */
@Tag("W86")
class TurnsTest {
    private final ArrayDeque<Runnable> threads = new ArrayDeque<>();
    private final List<String> done = new ArrayList<>();
    private final Turns turns = new Turns(threads::add, 2);

    private void run(String user, String what) {
        turns.run(user, () -> done.add(user + " " + what));
    }

    @Test
    void usersTakeTurnsHoweverMuchOneOfThemWants() {
        run("a", "1");
        run("a", "2");
        run("a", "3");
        run("a", "4");
        run("b", "1");
        run("c", "1");
        run("b", "2");
        assertThat(threads).hasSize(2);
        threads.remove().run();
        assertThat(done).containsExactly("a 1", "a 3", "b 1", "c 1", "a 4", "b 2");
        threads.remove().run();
        assertThat(done).endsWith("a 2");
    }

    @Test
    void workGoesOnAfterAPause() {
        run("a", "1");
        threads.remove().run();
        run("a", "2");
        threads.remove().run();
        assertThat(done).containsExactly("a 1", "a 2");
    }
}
