package io.nodekeeper.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Json;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Lanes;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A node under judgement stays in exactly one place, whatever fails, and nothing is written without a proof. */
class JudgeTest {
    private static final Duration GRACE = Duration.ofSeconds(40);

    private final VirtualTime time = new VirtualTime(Instant.parse("2020-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("controller");
    private final FakeTransport transport = new FakeTransport();
    private final DeadlineWheel<NodeHealth> wheel = new DeadlineWheel<>();
    private final ObserverGuard guard = ObserverGuard.watching(Duration.ofSeconds(1), Duration.ofSeconds(3));
    private final KubeClient client = new KubeClient(transport, loop, Duration.ofSeconds(2));
    private final Heartbeats heartbeats = new Heartbeats(
            new ControllerConfig(Duration.ofSeconds(5), GRACE, Duration.ofSeconds(60)),
            guard,
            wheel,
            new Heartbeats.Listener() {
                @Override
                public void heard(NodeHealth health, long silence, boolean returned, long now) {}

                @Override
                public void renewed(NodeHealth health, long renewMicros, long gap, long now) {}
            });
    private final Judge judge = new Judge(client, heartbeats, guard, new Lanes(), new Court(), this::now);

    private String uid = "uid-1";
    private String status = "True";
    private int version = 1;
    private boolean proven = true;
    private String failing = "";
    private int failures;
    private boolean answersAreLost;
    private boolean serverIsAway;
    /** Whether sight is proved as in reality, and not as the test says. */
    private boolean asksGuard;

    private Optional<Lease> renewed = Optional.empty();

    JudgeTest() {
        transport.answer(this::serve);
    }

    @ParameterizedTest
    @CsvSource({
        "isProven,1", "read,1", "rearm,1", "took,1", "silenced,1", "judged,1", "wrote,1",
        "isProven,9", "read,9", "rearm,9", "took,9", "silenced,9", "judged,9", "wrote,9"
    })
    void verdictIsReachedThoughAStepThrows(String step, int times) {
        NodeHealth health = add();
        failing = step;
        failures = times;

        run(health, 41 + 60);

        assertThat(failures).as("the step was reached").isLessThan(times);
        assertThat(status).isEqualTo("Unknown");
        assertThat(health.stage).isEqualTo(NodeHealth.Stage.RESTING);
        assertThat(judge.waiting().size()).isZero();
    }

    @Test
    void followerThatAlwaysThrowsKeepsNoVerdictBack() {
        NodeHealth health = add();
        failing = "read";
        failures = Integer.MAX_VALUE;

        run(health, 42);

        assertThat(status).isEqualTo("Unknown");
    }

    @Test
    void nodeWaitsOnceHoweverOftenItComesBackWhileNothingIsProven() {
        proven = false;
        NodeHealth health = add();
        for (int second = 50; second <= 3_600; second += 50) {
            run(health, second);
            assertThat(judge.waiting().size()).isEqualTo(1);
            heartbeats.saw(lease(second), Heartbeats.Source.LATE, now());
        }
        assertThat(writes()).isZero();
    }

    @Test
    void nodeThatWasReplacedWithoutAWordOfTheWatchIsNotWritten() {
        NodeHealth health = add();
        uid = "uid-2";

        run(health, 120);

        assertThat(transport.log()).contains("GET /api/v1/nodes/n1");
        assertThat(writes()).isZero();
    }

    @Test
    void writeIsNotRepeatedBeforeItsNewDeadlineIsProven() {
        NodeHealth health = add();
        answersAreLost = true;
        run(health, 41);
        assertThat(writes()).isPositive();

        // It comes back, and is silent again while first no read succeeds and then nothing can be proven.
        heartbeats.saw(lease(41), Heartbeats.Source.LATE, now());
        proven = false;
        serverIsAway = true;
        run(health, 41 + 60);
        serverIsAway = false;
        answersAreLost = false;
        int before = writes();
        run(health, 41 + 200);

        assertThat(writes()).isEqualTo(before);
        assertThat(status).isEqualTo("True");

        proven = true;
        run(health, 41 + 210);
        assertThat(status).isEqualTo("Unknown");
    }

    @Test
    void answersThatLayWhileThisProcessStoodStillAreNotUsed() {
        run(add(), 39);
        time.advance(Duration.ofMillis(1_050));
        asksGuard = true;
        guard.seen(now(), true, ObserverGuard.Means.WATCH, now());
        wheel.poll(now(), judge::overdue);
        loop.freeze();
        time.advance(Duration.ofSeconds(60));
        renewed = Optional.of(lease(60));
        loop.thaw();
        time.advance(Duration.ofSeconds(1));

        assertThat(transport.log()).contains("GET /api/v1/nodes/n1");
        assertThat(writes()).isZero();
    }

    private NodeHealth add() {
        guard.start(0);
        guard.begin(0);
        return heartbeats.add(new Node(node()), now(), Duration.ZERO);
    }

    /** Until that second, with a look at the node's place every 100 ms. */
    private void run(NodeHealth health, int second) {
        while (time.elapsed().toMillis() < second * 1_000L) {
            time.advance(Duration.ofMillis(100));
            if (now() % 1_000_000_000L == 0) {
                guard.seen(now(), true, ObserverGuard.Means.WATCH, now());
            }
            wheel.poll(now(), judge::overdue);
            judge.look();
            assertThat(health.stage == NodeHealth.Stage.ARMED)
                    .as("armed")
                    .isEqualTo(health.deadline.at() != DeadlineWheel.NEVER && !health.isJudged());
            assertThat(judge.waiting().holds(health)).as("waiting").isEqualTo(health.stage == NodeHealth.Stage.WAITING);
            if (health.stage == NodeHealth.Stage.RESTING) {
                assertThat(health.ready).isEqualTo("Unknown");
            }
        }
    }

    private long now() {
        return time.elapsed().toNanos();
    }

    private int writes() {
        return (int) transport.calls().stream()
                .filter(call -> call.method().equals("PUT"))
                .count();
    }

    private JsonObject node() {
        return Json.parseObject(
                "{\"metadata\":{\"name\":\"n1\",\"uid\":\"" + uid + "\",\"resourceVersion\":\"" + version
                        + "\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" + status
                        + "\",\"lastHeartbeatTime\":\"2020-01-01T00:00:00Z\"}]}}");
    }

    private static Lease lease(int second) {
        return new Lease(Json.parseObject("{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"" + (1_000 + second)
                + "\"},\"spec\":{\"holderIdentity\":\"n1\",\"renewTime\":\""
                + Instant.parse("2020-01-01T00:00:00Z")
                        .plusSeconds(second)
                        .toString()
                        .replace("Z", ".000000Z")
                + "\"}}"));
    }

    private Optional<Reply> serve(Call call) {
        if (serverIsAway) {
            throw new TransportException("connection refused", null);
        }
        if (call.target().contains("/leases/")) {
            return Optional.of(renewed.map(lease -> FakeTransport.reply(200, lease.json()))
                    .orElse(FakeTransport.reply(404, JsonObject.EMPTY)));
        }
        if (call.method().equals("PUT")) {
            if (answersAreLost) {
                throw new TransportException("connection reset", null);
            }
            status = new Node(Json.parseObject(call.body()))
                    .ready()
                    .orElseThrow()
                    .status();
            version++;
        }
        return Optional.of(FakeTransport.reply(200, node()));
    }

    /** Does what the controller does, and throws where the test wants it. */
    private final class Court implements Judge.Court {
        private void reached(String step) {
            if (step.equals(failing) && failures > 0) {
                failures--;
                throw new IllegalStateException("planted in " + step);
            }
        }

        @Override
        public boolean isProven(long nodeTime) {
            reached("isProven");
            return asksGuard ? guard.proves(nodeTime) : proven;
        }

        @Override
        public void read(NodeHealth health, Node node) {
            reached("read");
            heartbeats.saw(health, node, Heartbeats.Source.LIVE, now());
        }

        @Override
        public void wrote(NodeHealth health, Node node) {
            reached("wrote");
            heartbeats.saw(health, node, Heartbeats.Source.LATE, now());
        }

        @Override
        public void rearm(NodeHealth health) {
            reached("rearm");
            heartbeats.rearm(health);
        }

        @Override
        public void took(Hop hop, long nanos) {
            reached("took");
        }

        @Override
        public void silenced(NodeHealth health, boolean wasReady, long late, JsonObject facts) {
            reached("silenced");
        }

        @Override
        public void judged(String verdict) {
            reached("judged");
        }

        @Override
        public void spared(NodeHealth health, JsonObject facts) {
            reached("spared");
        }
    }
}
