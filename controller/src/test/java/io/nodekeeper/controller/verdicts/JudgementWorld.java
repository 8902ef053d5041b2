package io.nodekeeper.controller.verdicts;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.heartbeats.GraceState;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.heartbeats.NodeStates;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.observer.ProofKind;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** A {@link JudgementRunner}, an API server with one node, and ports that do what the controller does. */
abstract class JudgementWorld {
    static final Duration GRACE = Duration.ofSeconds(40);

    final VirtualTime time = new VirtualTime(Instant.parse("2020-01-01T00:00:00Z"));
    final VirtualTime.VirtualLoop loop = time.loop("controller");
    final FakeTransport transport = new FakeTransport();
    final DeadlineWheel<NodeHealth> wheel = new DeadlineWheel<>();
    final ObserverGuard guard = ObserverGuard.watching(Duration.ofSeconds(1), Duration.ofSeconds(3));
    final KubeClient client = new KubeClient(transport, loop, Duration.ofSeconds(2));
    final Heartbeats heartbeats =
            new Heartbeats(new ControllerConfig(Duration.ofSeconds(5), GRACE, Duration.ofSeconds(60)), guard, wheel);
    final PriorityWorkQueue workQueue = new PriorityWorkQueue();
    /** What was recorded, in order. */
    final List<String> facts = new ArrayList<>();

    final JudgementRunner judge = new JudgementRunner(
            client,
            heartbeats,
            guard,
            workQueue,
            new JudgementRunner.Ports(this::isProven, new States(), this::rearm, this::judged),
            this::now);

    String uid = "uid-1";
    String status = "True";
    int version = 1;
    boolean proven = true;
    String failing = "";
    int failures;
    boolean answersAreLost;
    /** The next write is taken, and its answer does not arrive. */
    boolean answerIsLostOnce;

    boolean serverIsAway;
    /** Called before each answer about the node; a value is the answer. */
    Function<Call, Optional<Reply>> fault = call -> Optional.empty();
    /** Whether sight is proved as in reality, and not as the test says. */
    boolean asksGuard;

    Optional<Lease> renewed = Optional.empty();

    JudgementWorld() {
        transport.answer(this::serve);
    }

    NodeHealth add() {
        guard.start(0);
        guard.begin(0);
        return heartbeats.add(new Node(node()), now(), Duration.ZERO);
    }

    /** Until that second, with a look at the node's place every 100 ms. */
    void run(NodeHealth health, int second) {
        while (time.elapsed().toMillis() < second * 1_000L) {
            time.advance(Duration.ofMillis(100));
            if (now() % 1_000_000_000L == 0) {
                guard.seen(now(), true, ProofKind.WATCH, now());
            }
            wheel.poll(now(), judge::overdue);
            judge.checkWaiting();
            assertThat(health.grace() == GraceState.ARMED)
                    .as("armed")
                    .isEqualTo(health.deadlineAt() != DeadlineWheel.NEVER && !health.isJudged());
            assertThat(health.isJudged()).as("judged").isEqualTo(judge.stage(health) != Judgement.Stage.CLOSED);
            assertThat(judge.waiting().holds(health))
                    .as("waiting")
                    .isEqualTo(judge.stage(health) == Judgement.Stage.WAITING);
            if (health.grace() == GraceState.RESTING) {
                assertThat(health.ready()).isEqualTo("Unknown");
            }
        }
    }

    /** As {@link #run}, of a node that may be gone. */
    void pass(int millis) {
        for (int i = 0; i < millis; i += 100) {
            time.advance(Duration.ofMillis(100));
            guard.seen(now(), true, ProofKind.WATCH, now());
            wheel.poll(now(), judge::overdue);
            judge.checkWaiting();
        }
    }

    /** How often the node was read. */
    int reads() {
        return (int)
                transport.log().stream().filter("GET /api/v1/nodes/n1"::equals).count();
    }

    long now() {
        return time.elapsed().toNanos();
    }

    int writes() {
        return (int) transport.calls().stream()
                .filter(call -> call.method().equals("PUT"))
                .count();
    }

    JsonObject node() {
        return Json.parseObject(
                "{\"metadata\":{\"name\":\"n1\",\"uid\":\"" + uid + "\",\"resourceVersion\":\"" + version
                        + "\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" + status
                        + "\",\"lastHeartbeatTime\":\"2020-01-01T00:00:00Z\"}]}}");
    }

    static Lease lease(int second) {
        return new Lease(Json.parseObject("{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"" + (1_000 + second)
                + "\"},\"spec\":{\"holderIdentity\":\"n1\",\"renewTime\":\""
                + Instant.parse("2020-01-01T00:00:00Z")
                        .plusSeconds(second)
                        .toString()
                        .replace("Z", ".000000Z")
                + "\"}}"));
    }

    Optional<Reply> serve(Call call) {
        if (serverIsAway) {
            throw new TransportException("connection refused", null);
        }
        if (call.target().contains("/leases/")) {
            return Optional.of(renewed.map(lease -> FakeTransport.reply(200, lease.json()))
                    .orElse(FakeTransport.reply(404, JsonObject.EMPTY)));
        }
        Optional<Reply> planted = fault.apply(call);
        if (planted.isPresent()) {
            return planted;
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
            if (answerIsLostOnce) {
                answerIsLostOnce = false;
                throw new TransportException("connection reset", null);
            }
        }
        return Optional.of(FakeTransport.reply(200, node()));
    }

    /** The ports do what the controller does, and throw where the test wants it. */
    private void reached(String step) {
        if (step.equals(failing) && failures > 0) {
            failures--;
            throw new IllegalStateException("planted in " + step);
        }
    }

    private boolean isProven(long nodeTime) {
        reached("isProven");
        return asksGuard ? guard.proves(nodeTime) : proven;
    }

    private final class States implements NodeStates {
        @Override
        public void saw(NodeHealth health, Node node, Heartbeats.Source source) {
            boolean wrote = source == Heartbeats.Source.LATE;
            reached(wrote ? "wrote" : "read");
            if (wrote) {
                facts.add("wrote");
            }
            heartbeats.saw(health, node, source, now());
        }

        @Override
        public void saw(Lease lease, Heartbeats.Source source) {
            heartbeats.saw(lease, source, now());
        }
    }

    private void rearm(NodeHealth health) {
        reached("rearm");
        heartbeats.rearm(health);
    }

    private void judged(NodeHealth health, Judgement.Fact fact) {
        switch (fact) {
            case Judgement.Fact.Took(Hop hop, long nanos) -> {
                reached("took");
                facts.add(hop + " " + Duration.ofNanos(nanos).toMillis());
            }
            case Judgement.Fact.Judged(String verdict) -> {
                reached("judged");
                facts.add(verdict);
            }
            case Judgement.Fact.Silenced silenced -> {
                reached("silenced");
                facts.add("silenced, ready " + silenced.wasReady() + ", late "
                        + Duration.ofNanos(silenced.late()).toMillis() + ", by "
                        + silenced.evidence().text("signal"));
            }
            case Judgement.Fact.Spared(JsonObject evidence) -> {
                reached("spared");
                facts.add("spared, " + evidence.text("liveLook"));
            }
            case Judgement.Fact.Postponed postponed -> reached("postponed");
        }
    }
}
