package io.nodekeeper.cli.ui;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.pages.PagesServer;
import io.nodekeeper.time.ThreadLoop;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page in a real browser, served by the real server from a generated fleet. With the system property {@code
 * nodekeeper.pictures} it writes the pictures of the docs into that directory.
 */
@Tag("long")
class WebPageBrowserTest {
    private static final String[] ZONES = {"eu-a", "eu-b", "eu-c"};
    private static final String HOSTILE = "Hang: <img src=x onerror=alert(1)><script>alert(2)</script>";

    /** Keys of the WebDriver protocol. */
    private static final String ESCAPE = "\uE00C";

    private static final String ENTER = "\uE007";
    private static final String RIGHT = "\uE014";

    @TempDir
    private Path profile;

    private final ThreadLoop loop = new ThreadLoop("controller");
    private final ThreadLoop timer = new ThreadLoop("timer");
    private final ShownFleet fleet = new ShownFleet(loop);
    private final Instant now = loop.clock().wallTime();
    private String url = "";
    private @Nullable PagesServer server;

    @BeforeEach
    void serve() throws Exception {
        PagesServer started =
                PagesServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), fleet.pages(timer));
        server = started;
        url = "http://127.0.0.1:" + started.address().getPort() + "/ui/";
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
        timer.close();
        loop.close();
    }

    private void on(Runnable change) {
        CompletableFuture.runAsync(change, loop).join();
    }

    private String ago(int seconds) {
        return KubeTime.format(now.minusSeconds(seconds));
    }

    private void nodes(int count) {
        on(() -> {
            for (int i = 0; i < count; i++) {
                fleet.node("n" + i, ZONES[i % ZONES.length], "ready", "", "");
            }
        });
    }

    /** Node n7 with an outage, a blind period before it, and evictions. */
    private void story() {
        on(() -> {
            fleet.node("n7", "eu-b", "unknown", "NodeStatusUnknown: Kubelet stopped posting node status.", ago(400));
            fleet.decided(
                    now.minusSeconds(1500),
                    "n7",
                    "Registered",
                    "the controller follows this node",
                    JsonObject.EMPTY.with("ready", "True"));
            fleet.decided(
                    now.minusSeconds(1100),
                    "",
                    "ObserverBlind",
                    "nothing seen for 10s: the API server does not answer (API server)",
                    JsonObject.EMPTY);
            fleet.decided(
                    now.minusSeconds(950),
                    "",
                    "ObserverSees",
                    "has sight again; for 2m30s it had none; every node gets that time back",
                    JsonObject.EMPTY);
            fleet.decided(
                    now.minusSeconds(433),
                    "n7",
                    "Suspected",
                    "no heartbeat for 17.5s, usually every 10s; the node becomes Unknown after 50s",
                    JsonObject.EMPTY);
            fleet.decided(
                    now.minusSeconds(400),
                    "n7",
                    "Unknown",
                    "no heartbeat for 50.1s, the grace period is 50s; last heartbeat by lease; it was Ready",
                    JsonObject.EMPTY
                            .with("signal", "lease")
                            .with("arrivedAt", KubeTime.formatMicro(now.minusSeconds(450)))
                            .with("silence", "50.1s")
                            .with("grace", "50s")
                            .with("sight", "a canary proved, 30ms after the deadline, that everything was seen"));
            fleet.decided(
                    now.minusSeconds(399),
                    "n7",
                    "Tainted",
                    "Taints added [node.kubernetes.io/unreachable:NoExecute], removed []",
                    JsonObject.EMPTY);
            for (int i = 0; i < 3; i++) {
                fleet.decided(
                        now.minusSeconds(99 - 3 * i),
                        "n7",
                        "Evicted",
                        "Pod default/web-" + i + " was deleted",
                        JsonObject.EMPTY.with("pod", "default/web-" + i));
            }
        });
    }

    @Test
    void fleetIsSearchedFollowedAndOpenedByMouseAndKeyboard() throws Exception {
        // given a fleet with one node in trouble, whose reason is hostile
        nodes(300);
        story();
        on(() -> fleet.node("n8", "eu-c", "notReady", HOSTILE, ago(60)));
        try (BrowserDriver browser = new BrowserDriver(profile)) {
            browser.open(url);
            assertThat(browser.await("return document.getElementById('count').textContent", "300 of 300 nodes"))
                    .isEqualTo("300 of 300 nodes");

            // then its text is shown as text
            assertThat(browser.run("return document.body.textContent")).contains(HOSTILE);
            assertThat(browser.run("return document.querySelectorAll('img, #app script').length"))
                    .isEqualTo("0");

            // when nodes change, then the page shows it without a reload
            on(() -> {
                for (int i = 20; i < 30; i++) {
                    fleet.node("n" + i, ZONES[i % 3], "unknown", "NodeStatusUnknown: silent", ago(1));
                }
            });
            String counts = "300 nodes, 288 Ready, 1 NotReady, 11 Unknown";
            assertThat(browser.await("return document.getElementById('counts').textContent", counts))
                    .isEqualTo(counts);

            // when a person searches with the keyboard
            browser.keys("/n29");
            assertThat(browser.await("return document.getElementById('count').textContent", "11 of 300 nodes"))
                    .isEqualTo("11 of 300 nodes");
            browser.keys(ESCAPE);
            assertThat(browser.await("return document.getElementById('count').textContent", "300 of 300 nodes"))
                    .isEqualTo("300 of 300 nodes");

            // and filters by a state
            browser.run("document.querySelector('[data-state=unknown]').click()");
            assertThat(browser.await("return document.getElementById('count').textContent", "11 of 300 nodes"))
                    .isEqualTo("11 of 300 nodes");
            browser.keys(ESCAPE);

            // and moves over the grid, and opens a node by Enter
            browser.run("document.getElementById('grid').focus()");
            browser.keys(RIGHT + RIGHT);
            assertThat(browser.await("return document.getElementById('under').textContent", "n3 · eu-a · Ready"))
                    .isEqualTo("n3 · eu-a · Ready");
            browser.keys(ENTER);
            assertThat(browser.await("return location.hash", "#/node/n3")).isEqualTo("#/node/n3");
            browser.keys(ESCAPE);
            assertThat(browser.await("return location.hash", "#/")).isEqualTo("#/");

            // and opens one by the mouse
            String place = browser.run("const box = document.getElementById('grid').getBoundingClientRect();"
                    + "return Math.round(box.left + 10) + ' ' + Math.round(box.top + 34)");
            browser.click(Integer.parseInt(place.split(" ")[0]), Integer.parseInt(place.split(" ")[1]));
            assertThat(browser.await("return location.hash", "#/node/n0")).isEqualTo("#/node/n0");

            // then nothing broke a rule
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    void linkToANodeAtATimeShowsItsStory() throws Exception {
        nodes(30);
        story();
        String at = KubeTime.formatMicro(now.minusSeconds(400));
        try (BrowserDriver browser = new BrowserDriver(profile)) {
            browser.open(url + "#/node/n7?at=" + at);

            assertThat(browser.await("return document.querySelectorAll('.story > li').length", "7"))
                    .isEqualTo("7");
            assertThat(browser.run("return document.querySelector('.headline').textContent"))
                    .startsWith("Node n7 is Unknown since ")
                    .contains("because no heartbeat for 50.1s, the grace period is 50s");
            assertThat(browser.run("return document.querySelectorAll('#timeline .blind').length"))
                    .isEqualTo("1");
            assertThat(browser.run("return document.querySelectorAll('#timeline .dot').length"))
                    .isEqualTo("7");
            assertThat(browser.run("return document.querySelector('.story .picked .kind').textContent"))
                    .isEqualTo("Unknown");

            // when a person clicks into the timeline, then the link has that time
            String place = browser.run("const box = document.getElementById('timeline').getBoundingClientRect();"
                    + "return Math.round(box.left + box.width / 2) + ' ' + Math.round(box.top + 40)");
            browser.click(Integer.parseInt(place.split(" ")[0]), Integer.parseInt(place.split(" ")[1]));
            assertThat(browser.await("return String(location.hash.includes('" + at + "'))", "false"))
                    .isEqualTo("false");
            assertThat(browser.run("return location.hash")).startsWith("#/node/n7?at=20");

            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    void pageWorksBelowThePrefixOfTheApiServersProxy() throws Exception {
        nodes(30);
        story();
        try (PrefixingProxy proxy = new PrefixingProxy(url.replace("/ui/", ""));
                BrowserDriver browser = new BrowserDriver(profile)) {
            // given an address without the last slash, as people type it
            browser.open(proxy.url() + "/ui");
            assertThat(browser.await("return document.getElementById('count').textContent", "30 of 30 nodes"))
                    .isEqualTo("30 of 30 nodes");
            assertThat(browser.run("return location.href")).isEqualTo(proxy.url() + "/ui/");

            // when a node changes, then the stream passes the proxy
            on(() -> fleet.node("n1", "eu-b", "unknown", "NodeStatusUnknown: silent", ago(1)));
            assertThat(browser.await(
                            "return document.getElementById('counts').textContent.split(', ')[3]", "2 Unknown"))
                    .isEqualTo("2 Unknown");

            // when a node is opened, then the link to it has the prefix
            browser.run("document.querySelector('a[href*=\"n7\"]').click()");
            assertThat(browser.await("return document.querySelectorAll('.story > li').length", "7"))
                    .isEqualTo("7");
            assertThat(browser.run("return location.href")).startsWith(proxy.url() + "/ui/#/node/n7");

            assertThat(browser.complaints()).isEmpty();
            assertThat(proxy.outside()).isEmpty();
        }
    }

    @Test
    void fiveThousandNodesStayResponsiveWhileFiveHundredFlip() throws Exception {
        nodes(5_000);
        try (BrowserDriver browser = new BrowserDriver(profile, "--enable-precise-memory-info")) {
            browser.open(url);
            assertThat(browser.await("return document.getElementById('count').textContent", "5000 of 5000 nodes"))
                    .isEqualTo("5000 of 5000 nodes");
            String paint = browser.run("return JSON.stringify(performance.getEntriesByType('paint')"
                    + ".map(e => [e.name, Math.round(e.startTime)]))");
            // frames of the whole page, while 500 nodes flip each second for five seconds
            browser.run("window.gaps = []; let last = performance.now(); (function frame() {"
                    + " requestAnimationFrame(now => { window.gaps.push(now - last); last = now; frame(); }); })();");
            for (int round = 0; round < 5; round++) {
                String state = round % 2 == 0 ? "unknown" : "ready";
                on(() -> {
                    for (int i = 0; i < 500; i++) {
                        fleet.node("n" + i * 10, ZONES[i * 10 % 3], state, state.equals("ready") ? "" : "silent", "");
                    }
                });
                String expected = state.equals("ready") ? "0 Unknown" : "500 Unknown";
                assertThat(browser.await(
                                "return document.getElementById('counts').textContent.split(', ')[3]", expected))
                        .isEqualTo(expected);
            }
            System.out.println("the page with 5,000 nodes: first paint [ms] " + paint + "; frames while 500 flip [ms]"
                    + " p50, p95, max "
                    + browser.run(
                            "const g = window.gaps.slice(1).sort((a, b) => a - b);"
                                    + "return [0.5, 0.95, 1].map(q => Math.round(g[Math.min(g.length - 1, Math.floor(q * g.length))])).join(', ')")
                    + " of " + browser.run("return window.gaps.length") + "; drawing of the grid [ms] p50, max "
                    + browser.run("const f = [...window.nodekeeperFrames()].sort((a, b) => a - b);"
                            + "return f[f.length >> 1].toFixed(1) + ', ' + f[f.length - 1].toFixed(1)")
                    + "; heap [MiB] " + browser.run("return Math.round(performance.memory.usedJSHeapSize / 1048576)"));
            assertThat(browser.complaints()).isEmpty();
        }
    }

    /** Writes the pictures of docs/page.md if asked to, and checks in any case that both colour schemes are drawn. */
    @Test
    void picturesOfCalmStormBlindnessAndAStory() throws Exception {
        String wanted = System.getProperty("nodekeeper.pictures", "");
        Path directory =
                wanted.isEmpty() ? profile.resolveSibling(profile.getFileName() + "-pictures") : Path.of(wanted);
        nodes(2_000);
        on(() -> fleet.node("n41", "eu-c", "late", "", ""));
        try (BrowserDriver browser = new BrowserDriver(profile)) {
            browser.open(url);
            browser.await("return document.getElementById('count').textContent", "2000 of 2000 nodes");
            browser.screenshot(directory.resolve("page-calm.png"));
            String light = browser.run("return getComputedStyle(document.body).backgroundColor");
            browser.run("document.getElementById('theme').click()");
            assertThat(browser.run("return getComputedStyle(document.body).backgroundColor"))
                    .isNotEqualTo(light);

            on(() -> {
                for (int i = 1; i < 2_000; i += 3) {
                    fleet.node(
                            "n" + i,
                            "eu-b",
                            i % 5 == 0 ? "late" : "unknown",
                            i % 5 == 0 ? "" : "NodeStatusUnknown: Kubelet stopped posting node status.",
                            i % 5 == 0 ? "" : ago(20 + i % 40));
                }
                fleet.next(JsonObject.EMPTY
                        .with("node", "n4")
                        .with("at", KubeTime.formatMicro(now.plusSeconds(280)))
                        .with("what", "the first of its 12 pods is evicted"));
            });
            assertThat(browser.await(
                            "return document.getElementById('counts').textContent.split(', ')[3]", "534 Unknown"))
                    .isEqualTo("534 Unknown");
            browser.screenshot(directory.resolve("page-storm.png"));

            story();
            browser.run("location.hash = '#/node/n7'");
            browser.await("return document.querySelectorAll('.story > li').length", "7");
            browser.screenshot(directory.resolve("page-node.png"));

            on(() -> fleet.blind("nothing seen for 42.3s: the API server does not answer (API server); no node gets a"
                    + " verdict, and the nodes' clock stands still"));
            browser.run("document.getElementById('theme').click(); location.hash = '#/'");
            browser.await("return String(document.querySelectorAll('.notice').length)", "1");
            browser.screenshot(directory.resolve("page-blind.png"));
            assertThat(browser.complaints()).isEmpty();
        }
    }
}
