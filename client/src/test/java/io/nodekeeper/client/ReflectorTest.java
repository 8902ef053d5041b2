package io.nodekeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ReflectorTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeTransport transport = new FakeTransport();
    private final List<String> heard = new ArrayList<>();
    private final KubeClient client = new KubeClient(transport, time.loop("reflector"), Duration.ofSeconds(10));
    private final List<String> listings = new ArrayList<>();
    private final List<String> parts = new ArrayList<>();
    private final Reflector reflector =
            new Reflector(client, Selection.all(ResourceType.NODES), Randoms.seeded(1), new Reflector.Handler() {
                @Override
                public void onListing() {
                    listings.add(transport.log().size() + " calls before");
                }

                @Override
                public void onReplace(List<JsonObject> objects) {
                    assertThat(objects).noneMatch(object -> object.has("spec"));
                    heard.add("all " + objects.stream().map(ReflectorTest::name).toList());
                }

                @Override
                public JsonObject reduced(JsonObject object) {
                    return object.without("status");
                }

                @Override
                public JsonObject parts(JsonObject object) {
                    assertThat(object.has("status")).isFalse();
                    parts.add(name(object));
                    return object.without("spec");
                }

                @Override
                public void onChange(JsonObject object) {
                    heard.add("changed " + name(object));
                }

                @Override
                public void onDelete(JsonObject object) {
                    heard.add("deleted " + name(object));
                }
            });

    @BeforeEach
    void serveAList() {
        transport.answer(call -> Optional.of(list("100", node("n1", "90"), node("n2", "95"))));
    }

    @Test
    void listsThenWatchesFromTheListsRevision() {
        startAndList();

        assertThat(transport.log()).containsExactly("GET /api/v1/nodes?limit=500");
        assertThat(heard).containsExactly("all [n1, n2]");
        assertThat(transport.watches()).hasSize(1);
        assertThat(watch(0).call().target())
                .startsWith("/api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=100&timeoutSeconds=");
        assertThat(timeoutSeconds(0)).isBetween(300, 599);
    }

    @Test
    void listsInPagesAndHandsThemOverTogether() {
        // given a server with three pages
        transport.answer(call -> Optional.of(
                call.target().endsWith("&continue=second%2Bpage")
                        ? page("100", "third", node("n2", "95"))
                        : call.target().endsWith("&continue=third")
                                ? list("100", node("n3", "96"))
                                : page("100", "second+page", node("n1", "90"))));
        // when the reflector lists
        startAndList();
        // then the handler gets all objects at once, and the watch begins at the revision of the pages
        assertThat(transport.log())
                .containsExactly(
                        "GET /api/v1/nodes?limit=500",
                        "GET /api/v1/nodes?limit=500&continue=second%2Bpage",
                        "GET /api/v1/nodes?limit=500&continue=third");
        assertThat(heard).containsExactly("all [n1, n2, n3]");
        assertThat(watch(0).call().target()).contains("&resourceVersion=100&");
    }

    @Test
    void holdsOnlyTheNeededPartsOfAListUntilItsLastPageComes() {
        // given a server with two pages of objects that have more than the handler needs
        JsonObject whole = Json.parseObject(
                "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"unschedulable\":true},\"status\":{\"phase\":\"a\"}}");
        transport.answer(call -> Optional.of(
                call.target().contains("continue") ? list("100", node("n2", "95")) : page("100", "next", whole)));
        // when the reflector lists
        startAndList();
        // then the handler has taken the parts of each object, and gets these
        assertThat(parts).containsExactly("n1", "n2");
        assertThat(heard).containsExactly("all [n1, n2]");
    }

    @Test
    void requestsSmallerPagesWhileOneIsLongerThanAReplyMayBe() {
        // given a server whose pages have at most 40 objects, or are too long
        transport.answer(call -> {
            int limit = Integer.parseInt(call.target().replaceAll(".*limit=(\\d+).*", "$1"));
            if (limit > 40) {
                throw new TransportException("GET: too long", new LongReplyException(1_000));
            }
            return Optional.of(
                    call.target().contains("continue")
                            ? list("100", node("n2", "95"))
                            : page("100", "next", node("n1", "90")));
        });
        // when the reflector lists
        startAndList();
        // then it requests a quarter of the objects until a page comes, and twice as many after each page
        assertThat(heard).containsExactly("all [n1, n2]");
        assertThat(transport.log())
                .containsExactly(
                        "GET /api/v1/nodes?limit=500",
                        "GET /api/v1/nodes?limit=125",
                        "GET /api/v1/nodes?limit=31",
                        "GET /api/v1/nodes?limit=62&continue=next",
                        "GET /api/v1/nodes?limit=15&continue=next");
        // and so in the next list
        watch(0).refuse(gone());
        settle();
        assertThat(transport.log().subList(5, 8))
                .containsExactly(
                        "GET /api/v1/nodes?limit=30",
                        "GET /api/v1/nodes?limit=60&continue=next",
                        "GET /api/v1/nodes?limit=15&continue=next");
    }

    @Test
    void waitsIfOneObjectIsLongerThanAReplyMayBe() {
        // given a server whose every page is too long
        transport.answer(call -> {
            throw new TransportException("GET: too long", new LongReplyException(1_000));
        });
        // when the reflector lists
        startAndList();
        // then it has requested one object, and tries again later
        assertThat(transport.log()).hasSize(5).last().isEqualTo("GET /api/v1/nodes?limit=1");
        time.advance(Duration.ofSeconds(10));
        assertThat(transport.log()).hasSizeBetween(8, 30);
    }

    @Test
    void beginsAgainIfTheHistoryEndsBetweenTwoPages() {
        // given a server that refuses the second page once
        List<String> refused = new ArrayList<>();
        transport.answer(call -> {
            if (!call.target().contains("continue")) {
                return Optional.of(page("100", "next", node("n1", "90")));
            }
            if (refused.isEmpty()) {
                refused.add(call.target());
                return Optional.of(FakeTransport.refusal(gone()));
            }
            return Optional.of(list("100", node("n2", "95")));
        });
        startAndList();
        assertThat(heard).isEmpty();
        // when the wait is over
        time.advance(Duration.ofMillis(200));
        // then it has listed from the beginning, each object once
        assertThat(heard).containsExactly("all [n1, n2]");
        assertThat(transport.log()).hasSize(4);
    }

    @Test
    void saysBeforeTheFirstPageOfEachListThatItBegins() {
        // given a server with two pages
        transport.answer(call -> Optional.of(
                call.target().contains("continue")
                        ? list("100", node("n2", "95"))
                        : page("100", "next", node("n1", "90"))));
        startAndList();
        assertThat(listings).containsExactly("0 calls before");
        // when the reflector lists again
        watch(0).refuse(gone());
        settle();
        // then it has said so before its third call, the first one of the new list
        assertThat(listings).containsExactly("0 calls before", "2 calls before");
        assertThat(transport.log()).hasSize(4);
    }

    @Test
    void passesEventsOn() {
        startAndList();

        watch(0).event("ADDED", node("n3", "101"));
        watch(0).event("MODIFIED", node("n1", "102"));
        watch(0).event("DELETED", node("n2", "103"));
        settle();

        assertThat(heard).containsExactly("all [n1, n2]", "changed n3", "changed n1", "deleted n2");
    }

    @Test
    void resumesABrokenWatchFromTheLastEvent() {
        startAndList();
        watch(0).event("MODIFIED", node("n1", "107"));

        watch(0).breakOff();
        time.advance(Duration.ofMillis(100));

        assertThat(transport.watches()).hasSize(2);
        assertThat(watch(1).call().target()).contains("&resourceVersion=107&");
        assertThat(transport.log()).as("lists").hasSize(1);
    }

    @Test
    void resumesFromABookmark() {
        startAndList();
        watch(0).event("BOOKMARK", node("", "250"));

        watch(0).end();
        time.advance(Duration.ofMillis(100));

        assertThat(watch(1).call().target()).contains("&resourceVersion=250&");
        assertThat(heard).containsExactly("all [n1, n2]");
    }

    @Test
    void watchesAgainSoonAfterEachCleanEndHoweverMany() {
        startAndList();

        for (int i = 0; i < 50; i++) {
            time.advance(Duration.ofSeconds(140));
            watch(i).end();
            time.advance(Duration.ofMillis(100));
            assertThat(transport.watches()).hasSize(i + 2);
        }
    }

    @Test
    @Tag("W63")
    void listsAgainImmediatelyAfterAnErrorEventAboutExpiredHistory() {
        startAndList();
        transport.answer(call -> Optional.of(list("500", node("n9", "480"))));

        watch(0).event("ERROR", gone().toStatus());
        settle();

        assertThat(watch(0).cancelled()).isTrue();
        assertThat(heard).containsExactly("all [n1, n2]", "all [n9]");
        assertThat(watch(1).call().target()).contains("&resourceVersion=500&");
    }

    @Test
    void listsAgainWhenTheWatchIsRefusedWith410() {
        startAndList();

        watch(0).refuse(gone());
        settle();

        assertThat(transport.log()).as("lists").hasSize(2);
        assertThat(transport.watches()).hasSize(2);
    }

    @Test
    void waitsBetweenListsIfTheHistoryIsAlwaysGone() {
        startAndList();

        for (int i = 0; i < 10; i++) {
            watch(transport.watches().size() - 1).refuse(gone());
            time.advance(Duration.ofSeconds(1));
        }

        assertThat(transport.log()).as("lists in 10 s").hasSizeBetween(4, 9);
    }

    @Test
    void keepsItsRevisionThroughARefusalThatMayPass() {
        startAndList();

        watch(0).refuse(new ApiException(503, "ServiceUnavailable", "starting"));
        time.advance(Duration.ofMillis(100));

        assertThat(transport.log()).as("lists").hasSize(1);
        assertThat(watch(1).call().target()).contains("&resourceVersion=100&");
    }

    @Test
    void listsAgainWhenTheServerHasNotReachedItsRevision() {
        startAndList();
        transport.answer(call -> Optional.of(list("7", node("n1", "5"))));

        watch(0).refuse(new ApiException(504, "Timeout", "Too large resource version: 100, current: 7"));
        time.advance(Duration.ofMillis(100));

        assertThat(watch(1).call().target()).contains("&resourceVersion=7&");
    }

    @Test
    void waitsLongerBetweenTriesToAnAbsentServer() {
        transport.answer(call -> {
            throw new TransportException("GET /api/v1/nodes: ConnectException", null);
        });

        reflector.start();
        time.advance(Duration.ofSeconds(1));
        int firstSecond = transport.log().size();
        time.advance(Duration.ofSeconds(59));
        int nextMinute = transport.log().size() - firstSecond;

        assertThat(firstSecond).isBetween(4, 6);
        assertThat(nextMinute).isBetween(15, 31);
        assertThat(heard).isEmpty();
    }

    @Test
    void recoversWithinItsLongestWaitAfterTheServer() {
        transport.answer(call -> Optional.empty());
        reflector.start();
        time.advance(Duration.ofMinutes(10));

        serveAList();
        time.advance(Duration.ofSeconds(14));

        assertThat(heard)
                .as("10 s deadline of the hanging call and at most 4 s")
                .containsExactly("all [n1, n2]");
    }

    @Test
    void doesNotTakeAListWithoutARevision() {
        transport.answer(call -> Optional.of(FakeTransport.reply(200, JsonObject.EMPTY)));

        reflector.start();
        time.advance(Duration.ofSeconds(1));

        assertThat(heard).isEmpty();
        assertThat(transport.watches()).isEmpty();
        assertThat(transport.log().size()).isBetween(4, 6);
    }

    @Test
    void givesUpAWatchThatFallsSilentAfterBookmarks() {
        startAndList();
        watch(0).event("BOOKMARK", node("", "120"));
        time.advance(Duration.ofSeconds(60));
        watch(0).event("MODIFIED", node("n1", "130"));

        time.advance(Duration.ofSeconds(149));
        assertThat(watch(0).cancelled()).isFalse();
        time.advance(Duration.ofSeconds(2));

        assertThat(watch(0).cancelled()).isTrue();
        assertThat(watch(1).call().target()).contains("&resourceVersion=130&");
    }

    @Test
    void listsAgainAfterAWatchThatOpensAndStaysSilent() {
        startAndList();
        heard.clear();

        time.advance(Duration.ofSeconds(149));
        assertThat(watch(0).cancelled()).isFalse();
        assertThat(heard).isEmpty();
        time.advance(Duration.ofSeconds(2));

        assertThat(watch(0).cancelled()).isTrue();
        assertThat(heard).containsExactly("all [n1, n2]");
        assertThat(transport.watches()).hasSize(2);
    }

    /** Somebody reopens them, or a proxy cuts idle connections. */
    @Test
    void listsAgainAfterWatchesThatAllStaySilentHoweverShort() {
        startAndList();
        heard.clear();
        for (int i = 0; i < 7; i++) {
            time.advance(Duration.ofSeconds(20));
            reflector.reopen();
            time.advance(Duration.ofMillis(1));
        }
        assertThat(heard).isEmpty();

        time.advance(Duration.ofSeconds(20));
        reflector.reopen();
        time.advance(Duration.ofMillis(1));

        assertThat(heard).containsExactly("all [n1, n2]");
    }

    @Test
    void watchesAgainAfterSilenceIfItsCallerListsMeanwhile() {
        reflector.keepRevisionInSilence();
        startAndList();
        heard.clear();

        time.advance(Duration.ofSeconds(151));

        assertThat(watch(0).cancelled()).isTrue();
        assertThat(watch(1).call().target()).contains("&resourceVersion=100&");
        assertThat(heard).isEmpty();
    }

    @Test
    void keepsAQuietWatchWhileBookmarksCome() {
        startAndList();

        for (int minute = 1; minute <= 20; minute++) {
            time.advance(Duration.ofSeconds(60));
            watch(0).event("BOOKMARK", node("", "" + (100 + minute)));
        }

        assertThat(watch(0).cancelled()).isFalse();
        assertThat(transport.watches()).hasSize(1);
    }

    @Test
    void doesNotStepOverAnEventThatItCannotRead() {
        startAndList();

        watch(0).line("{\"type\":\"MODI");
        watch(0).event("MODIFIED", node("n2", "140"));
        time.advance(Duration.ofMillis(100));

        assertThat(heard).containsExactly("all [n1, n2]");
        assertThat(watch(0).cancelled()).isTrue();
        assertThat(watch(1).call().target()).contains("&resourceVersion=100&");
    }

    @Test
    void restartContinuesFromTheLastEvent() {
        startAndList();
        watch(0).event("MODIFIED", node("n1", "107"));
        settle();

        reflector.reopen();
        settle();

        assertThat(watch(0).cancelled()).isTrue();
        assertThat(transport.watches()).hasSize(2);
        assertThat(watch(1).call().target()).contains("&resourceVersion=107&");
        watch(0).event("MODIFIED", node("n1", "108"));
        watch(1).event("MODIFIED", node("n2", "109"));
        settle();
        assertThat(heard).containsExactly("all [n1, n2]", "changed n1", "changed n2");
        assertThat(transport.log()).as("lists").hasSize(1);
    }

    @Test
    void restartDoesNothingWithoutAWatch() {
        reflector.reopen();
        settle();
        assertThat(transport.watches()).isEmpty();

        startAndList();
        reflector.stop();
        reflector.reopen();
        time.advance(Duration.ofSeconds(5));
        assertThat(transport.watches()).hasSize(1);
    }

    @Test
    void restartDoesNotWaitForTheNextAttempt() {
        startAndList();
        for (int failed = 0; failed < 10; failed++) {
            watch(failed).breakOff();
            time.advance(Duration.ofSeconds(5));
        }
        watch(10).breakOff();
        settle();
        assertThat(transport.watches()).as("the next try is seconds away").hasSize(11);

        reflector.reopen();
        settle();

        assertThat(transport.watches()).hasSize(12);
        time.advance(Duration.ofSeconds(5));
        assertThat(transport.watches())
                .as("and the one that was waited for is not made besides")
                .hasSize(12);
    }

    @Test
    void ignoresEventsOfACancelledWatch() {
        startAndList();
        watch(0).breakOff();
        time.advance(Duration.ofMillis(100));

        watch(0).event("MODIFIED", node("n1", "999"));
        watch(0).breakOff();
        time.advance(Duration.ofSeconds(5));

        assertThat(heard).containsExactly("all [n1, n2]");
        assertThat(transport.watches()).hasSize(2);
    }

    @Test
    void stopsForGood() {
        startAndList();

        reflector.stop();
        settle();
        watch(0).event("MODIFIED", node("n1", "101"));
        watch(0).end();
        time.advance(Duration.ofHours(1));

        assertThat(watch(0).cancelled()).isTrue();
        assertThat(heard).containsExactly("all [n1, n2]");
        assertThat(transport.watches()).hasSize(1);
        assertThat(transport.log()).hasSize(1);
    }

    @Test
    void stopsBetweenTwoTries() {
        transport.answer(call -> {
            throw new TransportException("no", null);
        });
        reflector.start();
        time.advance(Duration.ofSeconds(1));
        int tries = transport.log().size();

        reflector.stop();
        time.advance(Duration.ofMinutes(1));

        assertThat(transport.log()).hasSize(tries);
    }

    private void startAndList() {
        reflector.start();
        settle();
    }

    private void settle() {
        time.advance(Duration.ofMillis(1));
    }

    private FakeTransport.Watch watch(int index) {
        return transport.watches().get(index);
    }

    private int timeoutSeconds(int index) {
        String target = watch(index).call().target();
        return Integer.parseInt(target.substring(target.lastIndexOf('=') + 1));
    }

    private static ApiException gone() {
        return new ApiException(410, "Expired", "too old resource version: 100 (400)");
    }

    private static Reply list(String version, JsonValue... nodes) {
        return FakeTransport.reply(
                200,
                JsonObject.builder()
                        .put("metadata", JsonObject.EMPTY.with("resourceVersion", version))
                        .put("items", JsonArray.of(nodes))
                        .build());
    }

    private static Reply page(String version, String token, JsonValue... nodes) {
        JsonObject metadata = JsonObject.builder()
                .put("resourceVersion", version)
                .put("continue", token)
                .build();
        return FakeTransport.reply(
                200,
                JsonObject.builder()
                        .put("metadata", metadata)
                        .put("items", JsonArray.of(nodes))
                        .build());
    }

    private static JsonObject node(String name, String version) {
        return JsonObject.EMPTY.with(
                "metadata",
                JsonObject.builder()
                        .put("name", name)
                        .put("resourceVersion", version)
                        .build());
    }

    private static String name(JsonObject object) {
        return object.object("metadata").text("name");
    }
}
