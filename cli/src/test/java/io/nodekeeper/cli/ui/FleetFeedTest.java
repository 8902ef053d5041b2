package io.nodekeeper.cli.ui;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.pages.Feed;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class FleetFeedTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2015-01-01T12:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("timer");
    /** Each node's state; the fleet that the controller would show. */
    private final Map<String, String> states = new TreeMap<>(Map.of("n1", "ready", "n2", "ready"));

    private int reads;
    private boolean hangs;
    private final FleetFeed feed = new FleetFeed(this::read, loop);

    private CompletableFuture<FleetSnapshot> read() {
        reads++;
        return hangs ? new CompletableFuture<>() : CompletableFuture.completedFuture(snapshot(states));
    }

    private static FleetSnapshot snapshot(Map<String, String> states) {
        List<JsonValue> rows = states.entrySet().stream()
                .<JsonValue>map(node -> JsonArray.ofStrings(List.of(node.getKey(), "eu", node.getValue(), "", "")))
                .toList();
        return FleetSnapshot.of(
                JsonObject.EMPTY.with("at", "now").with("unwell", "not sent"),
                JsonObject.EMPTY.with("rows", new JsonArray(rows)));
    }

    /** A browser that applies the events as the page does; it takes an event only when told to, if it is slow. */
    private static final class Browser implements Feed.Reader {
        final List<String> events = new ArrayList<>();
        final Map<String, String> states = new TreeMap<>();
        final List<CompletableFuture<Void>> untaken = new ArrayList<>();
        boolean slow;
        boolean closed;

        @Override
        public CompletableFuture<Void> send(byte[] bytes) {
            String[] lines = new String(bytes, StandardCharsets.UTF_8).split("\n", -1);
            assertThat(lines).hasSize(4);
            events.add(lines[0].substring("event: ".length()));
            JsonObject data = Json.parseObject(lines[1].substring("data: ".length()));
            List.of("rows", "changed")
                    .forEach(list -> data.array(list).items().forEach(row -> {
                        List<String> texts = ((JsonArray) row).strings().toList();
                        states.put(texts.get(0), texts.get(2));
                    }));
            data.array("gone").strings().forEach(states::remove);
            CompletableFuture<Void> taken = slow ? new CompletableFuture<>() : CompletableFuture.completedFuture(null);
            if (slow) {
                untaken.add(taken);
            }
            return taken;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private Browser opened() {
        Browser browser = new Browser();
        assertThat(open(browser)).isTrue();
        return browser;
    }

    private boolean open(Browser browser) {
        CompletableFuture<Boolean> opened = feed.open(browser);
        time.advance(Duration.ofMillis(1));
        return opened.join();
    }

    @Test
    void readerGetsTheFleetThenOnlyWhatChanged() {
        // given a page that is open
        Browser browser = opened();
        assertThat(browser.events).containsExactly("fleet");

        // when one node changes and another one is deleted
        states.put("n1", "unknown");
        states.remove("n2");
        time.advance(FleetFeed.PAUSE);

        // then the page shows both
        assertThat(browser.events).containsExactly("fleet", "changes");
        assertThat(browser.states).containsExactly(Map.entry("n1", "unknown"));
    }

    /** A right that was taken away must not last as long as an open page; a browser connects again by itself. */
    @Test
    void aStreamEndsAfterFiveMinutes() {
        Browser browser = opened();

        time.advance(Duration.ofMinutes(5).minusSeconds(2));
        assertThat(browser.closed).isFalse();
        time.advance(Duration.ofSeconds(3));

        assertThat(browser.closed).isTrue();
        assertThat(feed.readers()).isZero();
    }

    @Test
    void nothingIsReadWithoutAReader() {
        time.advance(Duration.ofMinutes(1));
        assertThat(reads).isZero();

        // given a page that was closed: its connection fails the next event
        Browser browser = opened();
        browser.slow = true;
        time.advance(FleetFeed.PAUSE);
        browser.untaken.getFirst().completeExceptionally(new IllegalStateException("closed"));
        time.advance(FleetFeed.PAUSE);
        int before = reads;

        time.advance(Duration.ofMinutes(1));

        assertThat(reads).isEqualTo(before);
        assertThat(feed.readers()).isZero();
    }

    @Test
    void slowReaderSkipsMomentsAndSeesTheLastState() {
        // given a reader that does not take its first event for 5 s, while a node flips each second
        Browser browser = new Browser();
        browser.slow = true;
        assertThat(open(browser)).isTrue();
        for (String state : List.of("late", "judged", "unknown", "notReady", "ready")) {
            states.put("n1", state);
            time.advance(FleetFeed.PAUSE);
        }
        // then nothing was queued for it
        assertThat(browser.events).containsExactly("fleet");

        // when it takes the event
        states.put("n1", "late");
        browser.untaken.getFirst().complete(null);
        time.advance(FleetFeed.PAUSE);

        // then one event brings it up to date
        assertThat(browser.events).containsExactly("fleet", "changes");
        assertThat(browser.states).containsEntry("n1", "late");
    }

    @Test
    void readerThatTakesNothingIsCut() {
        Browser browser = new Browser();
        browser.slow = true;
        assertThat(open(browser)).isTrue();

        time.advance(FleetFeed.SLOWEST.minusSeconds(1));
        assertThat(browser.closed).isFalse();
        time.advance(Duration.ofSeconds(2));

        assertThat(browser.closed).isTrue();
        assertThat(feed.readers()).isZero();
    }

    @Test
    void readersAreLimited() {
        for (int i = 0; i < FleetFeed.READERS; i++) {
            opened();
        }

        assertThat(open(new Browser())).isFalse();
        assertThat(feed.readers()).isEqualTo(16);
    }

    @Test
    void controllerThatHangsIsNamed() {
        Browser browser = opened();
        hangs = true;

        time.advance(Duration.ofSeconds(4));

        assertThat(browser.events).contains("trouble");

        hangs = false;
        states.put("n1", "unknown");
        time.advance(Duration.ofSeconds(4));
        assertThat(browser.states).containsEntry("n1", "unknown");
    }

    /** Each reader that has taken its events shows the fleet as it is, however slow it was and whatever changed. */
    @RepeatedTest(200)
    void readersConverge(RepetitionInfo seed) {
        RandomGenerator random = new SplittableRandom(seed.getCurrentRepetition());
        List<Browser> browsers = List.of(opened(), opened(), opened());
        for (int step = 0; step < 30; step++) {
            String name = "n" + random.nextInt(6);
            if (random.nextInt(4) == 0) {
                states.remove(name);
            } else {
                states.put(name, List.of("ready", "late", "unknown").get(random.nextInt(3)));
            }
            Browser browser = browsers.get(random.nextInt(3));
            browser.slow = random.nextBoolean();
            browser.untaken.forEach(taken -> taken.complete(null));
            time.advance(Duration.ofMillis(random.nextInt(1500)));
        }
        browsers.forEach(browser -> {
            browser.slow = false;
            browser.untaken.forEach(taken -> taken.complete(null));
        });
        time.advance(FleetFeed.PAUSE.multipliedBy(3));

        assertThat(browsers)
                .filteredOn(browser -> !browser.closed)
                .isNotEmpty()
                .allSatisfy(browser -> assertThat(browser.states).isEqualTo(states));
    }
}
