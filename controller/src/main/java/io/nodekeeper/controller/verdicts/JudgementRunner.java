package io.nodekeeper.controller.verdicts;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.heartbeats.NodeStates;
import io.nodekeeper.controller.observer.Ages;
import io.nodekeeper.controller.observer.Now;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.observer.ProofQueue;
import io.nodekeeper.controller.observer.Sight;
import io.nodekeeper.controller.verdicts.Judgement.Command;
import io.nodekeeper.controller.verdicts.Judgement.Fact;
import io.nodekeeper.controller.verdicts.Judgement.Input;
import io.nodekeeper.time.Loop;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a {@link Judgement} for each node whose deadline has passed: executes its commands and passes the results back
 * to it. Confined to the loop.
 *
 * <p>Invariant: a node under judgement waits for a proof, for its turn in the queue, for a call (each has a deadline),
 * or for the end of a pause. Every attempt ends, even if a command throws an exception, and frees its place in the
 * queue.
 */
public final class JudgementRunner {
    /**
     * The parts of the controller that the runner calls, on the loop.
     *
     * @param sight checks proofs
     * @param states receives what is read and written
     * @param rearm sets the next deadline of a node whose judgement is over
     * @param facts records what happened
     */
    public record Ports(
            Sight sight, NodeStates states, Consumer<NodeHealth> rearm, BiConsumer<NodeHealth, Fact> facts) {}

    private static final Logger log = LoggerFactory.getLogger(JudgementRunner.class);
    /** A warning is logged after this many failed attempts: with the usual pauses, 5 s after the first. */
    private static final int WARN_AT = 8;

    private final KubeClient client;
    private final Loop loop;
    private final Heartbeats heartbeats;
    private final ObserverGuard guard;
    private final PriorityWorkQueue workQueue;
    private final Ports ports;
    private final Now now;
    private final LiveReads reads;
    private final ProofQueue<NodeHealth> waiting = new ProofQueue<>();
    /** The nodes under judgement: at most one judgement for each node. */
    private final Map<NodeHealth, Judgement> judgements = new IdentityHashMap<>();

    public JudgementRunner(
            KubeClient client,
            Heartbeats heartbeats,
            ObserverGuard guard,
            PriorityWorkQueue workQueue,
            Ports ports,
            Now now) {
        this.client = client;
        this.loop = client.loop();
        this.heartbeats = heartbeats;
        this.guard = guard;
        this.workQueue = workQueue;
        this.ports = ports;
        this.now = now;
        this.reads = new LiveReads(client);
    }

    /** The node's deadline has passed, as far as this process knows. */
    public void overdue(NodeHealth health) {
        if (!judgements.containsKey(health)) {
            Case subject = new Case(health);
            judgements.put(health, subject.judgement);
            heartbeats.judging(health);
            check(subject);
        }
    }

    /** More may be proven than before, or a canary period has passed. */
    public void checkWaiting() {
        waiting.sweep();
    }

    /** The stage of the judgement of that node; {@link Judgement.Stage#CLOSED} if there is none. */
    Judgement.Stage stage(NodeHealth health) {
        Judgement judgement = judgements.get(health);
        return judgement == null ? Judgement.Stage.CLOSED : judgement.stage();
    }

    /** The nodes that wait for a proof. */
    public ProofQueue<NodeHealth> waiting() {
        return waiting;
    }

    /** One node under judgement. */
    private final class Case {
        private final NodeHealth health;
        private final Judgement judgement;
        /** Completes when the current attempt ends; the queue waits for it. */
        private CompletableFuture<Void> turn = CompletableFuture.completedFuture(null);
        /** The versions of node and lease that were seen when the current reads were sent. */
        private String nodeVersion = "";

        private long leaseVersion;

        private Case(NodeHealth health) {
            this.health = health;
            this.judgement =
                    new Judgement(health.name(), health.uid(), ControllerConfig.CALL_TIMEOUT.toNanos(), now.nanos());
        }
    }

    /** The next attempt begins now, or as soon as its deadline is proven. */
    private void check(Case subject) {
        await(subject);
        waiting.sweep(subject.health);
    }

    /** Adds the node to those that wait. It stays there if a check throws an exception, see {@link ProofQueue}. */
    private void await(Case subject) {
        waiting.add(subject.health, () -> {
            drive(subject, new Input.Check());
            return subject.judgement.stage() != Judgement.Stage.WAITING;
        });
    }

    /** Executes the commands that follow from {@code input}, and from the immediate answer to the last command. */
    private void drive(Case subject, Input input) {
        Optional<Input> next = Optional.of(input);
        while (next.isPresent()) {
            Optional<Input> answer = Optional.empty();
            for (Command command : subject.judgement.step(next.get(), situation(subject.health))) {
                answer = execute(subject, command);
            }
            next = answer;
        }
    }

    /** The same for the answer of a call; an exception ends the attempt. */
    private void resume(Case subject, Input input) {
        try {
            drive(subject, input);
        } catch (Throwable e) {
            // A completion stage would drop even an Error silently.
            fail(subject, e);
        }
    }

    private void fail(Case subject, Throwable error) {
        try {
            drive(subject, new Input.StepFailed(error));
        } catch (Throwable e) {
            log.error(
                    "node {}: the judgement failed; it is retried when more is proven, or after a canary period",
                    subject.health.name(),
                    e);
            await(subject);
            subject.turn.complete(null);
        }
    }

    private Judgement.Situation situation(NodeHealth health) {
        return new Judgement.Situation(
                now.nanos(),
                loop.clock().wallTime(),
                heartbeats.isCurrent(health),
                workQueue.isClosed(),
                guard.whenNodeTime(heartbeats.deadline(health)),
                heartbeats.grace(health),
                health.ready(),
                VerdictFacts.LastSign.of(health),
                VerdictFacts.Sight.of(guard));
    }

    /** Executes one command; returns its answer if that is immediate. */
    private Optional<Input> execute(Case subject, Command command) {
        NodeHealth health = subject.health;
        switch (command) {
            case Command.Prove() -> {
                return Optional.of(new Input.ProofChecked(ports.sight().isProven(heartbeats.deadline(health))));
            }
            case Command.TakeIn(JsonObject lease, Node node) -> {
                if (!lease.isEmpty()) {
                    ports.states()
                            .saw(
                                    new Lease(lease),
                                    source(heartbeats.leaseVersion(health.name()) != subject.leaseVersion));
                }
                Heartbeats.Source source = source(!health.version().equals(subject.nodeVersion));
                attempt(health, "read", () -> ports.states().saw(health, node, source));
                return Optional.of(new Input.TakenIn());
            }
            case Command.TakeWritten(Node node) ->
                attempt(health, "wrote", () -> ports.states().saw(health, node, Heartbeats.Source.LATE));
            case Command.Publish(Fact fact) -> publish(health, fact);
            case Command.Read() -> workQueue.urgent(() -> read(subject));
            case Command.WriteStatus(Node node) -> write(subject, node);
            case Command.Wait() -> {
                if (!waiting.holds(health)) {
                    await(subject);
                }
                subject.turn.complete(null);
            }
            case Command.Pause pause -> {
                loop.schedule(pause.pause(), () -> check(subject));
                subject.turn.complete(null);
            }
            case Command.Close() -> {
                if (heartbeats.isCurrent(health)) {
                    ports.rearm().accept(health);
                } else {
                    heartbeats.rest(health);
                }
                judgements.remove(health);
                subject.turn.complete(null);
            }
        }
        return Optional.empty();
    }

    /** What a read is worth: the watch may have delivered a newer state after the server sent its answer. */
    private static Heartbeats.Source source(boolean isOvertaken) {
        return isOvertaken ? Heartbeats.Source.LATE : Heartbeats.Source.LIVE;
    }

    /** One turn in the queue: from the read to the end of the attempt. */
    private CompletionStage<?> read(Case subject) {
        CompletableFuture<Void> turn = new CompletableFuture<>();
        subject.turn = turn;
        try {
            long sentAt = now.nanos();
            String name = subject.health.name();
            subject.nodeVersion = subject.health.version();
            subject.leaseVersion = heartbeats.leaseVersion(name);
            // The reference trusts its cache of leases; the node is always read, because it is not cached.
            CompletableFuture<JsonObject> lease =
                    guard.isOn() ? reads.lease(name) : CompletableFuture.completedFuture(JsonObject.EMPTY);
            CompletableFuture<JsonObject> node = reads.node(name);
            CompletableFuture.allOf(lease, node)
                    .whenComplete((both, error) -> resume(
                            subject,
                            error == null
                                    ? new Input.ObjectsRead(lease.join(), node.join(), sentAt)
                                    : new Input.ReadFailed(error)));
        } catch (RuntimeException e) {
            fail(subject, e);
        }
        return turn;
    }

    private void write(Case subject, Node node) {
        client.updateStatus(ResourceType.NODES, "", subject.health.name(), node.json())
                .whenComplete((written, error) -> resume(
                        subject, error == null ? new Input.WriteAnswered(written) : new Input.WriteFailed(error)));
    }

    private void publish(NodeHealth health, Fact fact) {
        switch (fact) {
            case Fact.Silenced silenced -> {
                heartbeats.silenced(health);
                log.info(
                        "Node {} is now Unknown: last signal {}, deadline missed by {};"
                                + " wrote Ready and the pressure conditions as Unknown{}",
                        health.name(),
                        silenced.lastSignal(),
                        Ages.text(silenced.late()),
                        silenced.wasReady() ? ", was Ready" : ", was not Ready");
            }
            case Fact.Spared spared ->
                log.debug("Node {} is late, but the API server has a newer {}", health.name(), health.signal());
            case Fact.Postponed postponed -> postponed(health, postponed);
            case Fact.Took took -> {}
            case Fact.Judged judged -> {}
        }
        attempt(health, fact.getClass().getSimpleName(), () -> ports.facts().accept(health, fact));
    }

    private static void postponed(NodeHealth health, Fact.Postponed fact) {
        String text = Failures.text(fact.error());
        log.debug("Node {} is late, but cannot be judged: {}; next attempt in {}", health.name(), text, fact.pause());
        if (fact.failures() == WARN_AT) {
            log.warn("Node {} is late, but could not be judged {} times: {}", health.name(), fact.failures(), text);
        }
    }

    /** A failure of another part must not delay a verdict. */
    private static void attempt(NodeHealth health, String what, Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            log.error("node {}: \"{}\" failed", health.name(), what, e);
        }
    }
}
