package io.nodekeeper.controller.verdicts;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.time.Backoff;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * The pure part of a judgement: decides about one node whose deadline has passed, over all attempts. Each {@link #step}
 * takes one input and the situation at that moment, and returns commands for {@link JudgementRunner}. It makes no calls
 * and reads no clock, so that a test needs only values. Not thread-safe.
 *
 * <p>The order of an attempt: wait for the proof that the controller has seen everything up to the deadline, read lease
 * and node, compare them with the deadline, prove the deadline again if the read moved it, write the status. An attempt
 * that fails ends with {@link Command.Pause}, and the next one starts with the proof.
 */
public final class Judgement {
    /** An input to which the judgement reacts. */
    sealed interface Input {
        /**
         * The next attempt may be possible: the deadline has passed, the pause after a failed attempt is over, more may
         * be proven than before, or a canary period has passed.
         */
        record Check() implements Input {}

        /** The answer to {@link Command.Prove}. */
        record ProofChecked(boolean proven) implements Input {}

        /**
         * The answer to {@link Command.Read}.
         *
         * @param lease the lease, empty if there is none
         * @param node the node, empty if there is none
         * @param sentAt when the reads were sent, monotonic nanoseconds
         */
        record ObjectsRead(JsonObject lease, JsonObject node, long sentAt) implements Input {}

        /** The answer to {@link Command.Read} if it failed. */
        record ReadFailed(Throwable error) implements Input {}

        /** {@link Command.TakeIn} was executed: the situation includes what was read. */
        record TakenIn() implements Input {}

        /** The answer to {@link Command.WriteStatus}. */
        record WriteAnswered(JsonObject node) implements Input {}

        /** The answer to {@link Command.WriteStatus} if it failed. */
        record WriteFailed(Throwable error) implements Input {}

        /** The last step, or one of its commands, threw an exception. */
        record StepFailed(Throwable error) implements Input {}
    }

    /** A command for the runner, which executes a list of commands in order. */
    sealed interface Command {
        /** Send {@link Input.Check} when more may be proven, and each canary period. */
        record Wait() implements Command {}

        /** Check whether everything stored before the node's deadline was seen; ask for a proof if not. */
        record Prove() implements Command {}

        /** Read the node, and its lease if the controller's sight is guarded, in the urgent queue. */
        record Read() implements Command {}

        /** Store what was read as the newest state of lease and node. An empty lease is not stored. */
        record TakeIn(JsonObject lease, Node node) implements Command {}

        /** Write the status of this node, at the version that was read. */
        record WriteStatus(Node node) implements Command {}

        /** Store the answer to a write, unless a newer state was seen. */
        record TakeWritten(Node node) implements Command {}

        /** Record this; a failure to do so must not stop the judgement. */
        record Publish(Fact fact) implements Command {}

        /** End this attempt and send {@link Input.Check} after {@code pause}. */
        record Pause(Duration pause) implements Command {}

        /** End this attempt and the judgement: set the node's next deadline. */
        record Close() implements Command {}
    }

    /** A fact for log, metrics, history, events and pods. */
    public sealed interface Fact {
        /** A decision or its write took this long, beyond the deadline or the decision. */
        record Took(Hop hop, long nanos) implements Fact {}

        /** The result for a node past its deadline: {@code Unknown}, {@code Spared} or {@code AlreadyUnknown}. */
        record Judged(String verdict) implements Fact {}

        /** The API server had a newer heartbeat than the watch. */
        record Spared(JsonObject evidence) implements Fact {}

        /**
         * This controller declared the node Unknown.
         *
         * @param wasReady whether it was Ready
         * @param late nanoseconds after its deadline
         * @param lastSignal the last heartbeat, for people
         */
        record Silenced(boolean wasReady, long late, String lastSignal, JsonObject evidence) implements Fact {}

        /**
         * An attempt failed.
         *
         * @param failures the number of failed attempts so far
         */
        record Postponed(Throwable error, int failures, Duration pause) implements Fact {}
    }

    /** The stage of the judgement. */
    enum Stage {
        /** Waits for a proof of sight, that is for {@link Input.Check}. */
        WAITING,
        /** Waits for the answer to a command, each of which has a deadline, or for the end of a pause. */
        WORKING,
        /** The judgement is over. */
        CLOSED
    }

    /** The step of an attempt. */
    private enum Try {
        /** It has not begun: sight is not proven yet. */
        NONE,
        /** Lease and node are read and compared with the deadline. */
        READING,
        /** The deadline after the read is proven. */
        PROVING,
        /** The status is written. */
        WRITING,
        /** The last command of the attempt was returned. */
        ENDED
    }

    /**
     * The situation at the moment of a step.
     *
     * @param now monotonic nanoseconds
     * @param wallTime the same moment by the wall clock
     * @param followed whether the node still exists with this UID
     * @param stopped whether nothing may be written any more
     * @param deadline the last moment of the node's grace, monotonic nanoseconds
     * @param grace the node's grace period, nanoseconds
     * @param ready the status of its Ready condition as last seen; empty if there is none
     * @param last its last heartbeat
     * @param sight what the controller can see
     */
    record Situation(
            long now,
            Instant wallTime,
            boolean followed,
            boolean stopped,
            long deadline,
            long grace,
            String ready,
            VerdictFacts.LastSign last,
            VerdictFacts.Sight sight) {}

    /** Kubernetes retries after 20 ms; its next monitor pass comes after 5 s. */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(5));

    private final String name;
    private final String uid;
    /** The greatest age of an answer, nanoseconds. */
    private final long freshness;

    private final VerdictFacts facts;
    private Stage stage = Stage.WAITING;
    private Try step = Try.NONE;
    private int failures;
    /** Whether a write was sent whose outcome is not known. */
    private boolean sent;
    /** The same before the write under way. */
    private boolean unsure;

    private boolean wasReady;
    /** The objects that were read in this attempt; empty before. */
    private JsonObject lease = JsonObject.EMPTY;

    private Node node = new Node(JsonObject.EMPTY);
    /** The verdict to write in this attempt. */
    private Verdict.MarkUnknown verdict = new Verdict.MarkUnknown(node, false);

    /**
     * The judgement of a node whose deadline was found to have passed at {@code now}.
     *
     * @param freshness how old the answer to a read may be when it is used, nanoseconds
     */
    Judgement(String name, String uid, long freshness, long now) {
        this.name = name;
        this.uid = uid;
        this.freshness = freshness;
        this.facts = new VerdictFacts(now);
    }

    /** The stage of the judgement. */
    Stage stage() {
        return stage;
    }

    /** The commands that follow from {@code input}. */
    List<Command> step(Input input, Situation situation) {
        return switch (input) {
            case Input.Check() -> check(situation);
            case Input.ProofChecked(boolean proven) ->
                step == Try.PROVING ? write(proven, situation) : proven ? read(situation) : List.of(new Command.Wait());
            case Input.ObjectsRead objectsRead -> objectsRead(objectsRead, situation);
            case Input.ReadFailed(Throwable error) -> retry(error);
            case Input.TakenIn() -> judge(situation);
            case Input.WriteAnswered(JsonObject written) -> written(new Node(written), situation);
            case Input.WriteFailed(Throwable error) -> writeFailed(error, situation);
            case Input.StepFailed(Throwable error) -> stepFailed(error);
        };
    }

    private List<Command> check(Situation situation) {
        stage = Stage.WAITING;
        step = Try.NONE;
        if (!situation.followed()) {
            return close();
        }
        if (sent) {
            // The outcome of a write is not known: the node is read even if nothing is proven.
            return read(situation);
        }
        return situation.now() <= situation.deadline() ? close() : List.of(new Command.Prove());
    }

    private List<Command> read(Situation situation) {
        facts.proven(situation.sight().means(), situation.now());
        stage = Stage.WORKING;
        step = Try.READING;
        return List.of(new Command.Read());
    }

    private List<Command> objectsRead(Input.ObjectsRead objectsRead, Situation situation) {
        if (!situation.followed() || situation.stopped()) {
            return close();
        }
        if (situation.sight().guarded() && situation.now() - objectsRead.sentAt() > freshness) {
            // This process paused between the answers and this step: they may be outdated.
            return pause(Duration.ZERO);
        }
        node = new Node(objectsRead.node());
        lease = objectsRead.lease();
        if (!node.uid().equals(uid)) {
            // Deleted or recreated; the watch will report it. If it does not, the next attempt reads again.
            return pause(RETRY.cap());
        }
        facts.before(situation.last(), situation.deadline(), situation.grace());
        return List.of(new Command.TakeIn(lease, node));
    }

    private List<Command> judge(Situation situation) {
        facts.read(lease, node, situation.now());
        List<Command> commands = new ArrayList<>();
        if (sent && situation.ready().equals(Condition.UNKNOWN)) {
            // The write that had no answer was stored.
            commands.addAll(silenced(situation));
        }
        switch (Verdict.of(node, situation.deadline(), situation.now(), situation.wallTime())) {
            case Verdict.Alive() -> {
                commands.add(new Command.Publish(new Fact.Judged("Spared")));
                commands.add(new Command.Publish(new Fact.Spared(evidence(situation))));
                commands.addAll(close());
            }
            case Verdict.AlreadyUnknown() -> {
                commands.add(new Command.Publish(new Fact.Judged("AlreadyUnknown")));
                commands.addAll(close());
            }
            case Verdict.MarkUnknown mark -> {
                // What was read may have moved the deadline, so the new one has to be proven, too.
                verdict = mark;
                step = Try.PROVING;
                commands.add(new Command.Prove());
            }
        }
        return commands;
    }

    private List<Command> write(boolean proven, Situation situation) {
        if (!proven) {
            return pause(RETRY.cap());
        }
        unsure = sent;
        sent = true;
        wasReady = verdict.wasReady();
        step = Try.WRITING;
        facts.sent(situation.deadline(), situation.grace(), situation.now());
        return List.of(
                new Command.Publish(new Fact.Took(Hop.DEADLINE_TO_DECISION, situation.now() - facts.deadline())),
                new Command.WriteStatus(verdict.node()));
    }

    private List<Command> written(Node written, Situation situation) {
        facts.answered("200", situation.now());
        List<Command> commands = new ArrayList<>();
        commands.add(new Command.Publish(new Fact.Took(Hop.DECISION_TO_WRITE, situation.now() - facts.sentAt())));
        if (situation.followed()) {
            commands.addAll(silenced(situation));
            commands.add(new Command.TakeWritten(written));
        }
        commands.addAll(close());
        return commands;
    }

    private List<Command> writeFailed(Throwable error, Situation situation) {
        facts.answered(Failures.text(error), situation.now());
        // A conflict may be with an earlier write of this judgement that had no answer.
        sent = unsure || !isRefusal(error);
        return retry(error);
    }

    private List<Command> stepFailed(Throwable error) {
        if (step == Try.ENDED) {
            // Neither the pause nor the next deadline could be set: the next check starts the next attempt.
            stage = Stage.WAITING;
            step = Try.NONE;
            return List.of(new Command.Wait());
        }
        return retry(error);
    }

    /** The verdict is stored in the API. */
    private List<Command> silenced(Situation situation) {
        sent = false;
        // The deadline as of the write: a renewal may have moved it since.
        long late = situation.now() - facts.deadline();
        return List.of(
                new Command.Publish(new Fact.Judged("Unknown")),
                new Command.Publish(
                        new Fact.Silenced(wasReady, late, facts.lastSignal(situation.now()), evidence(situation))));
    }

    private List<Command> retry(Throwable error) {
        Duration pause = RETRY.delay(failures++);
        List<Command> commands = new ArrayList<>();
        commands.add(new Command.Publish(new Fact.Postponed(error, failures, pause)));
        commands.addAll(pause(pause));
        return commands;
    }

    private List<Command> pause(Duration pause) {
        stage = Stage.WORKING;
        step = Try.ENDED;
        return List.of(new Command.Pause(pause));
    }

    private List<Command> close() {
        stage = Stage.CLOSED;
        step = Try.ENDED;
        return List.of(new Command.Close());
    }

    private JsonObject evidence(Situation situation) {
        return facts.json(name, situation.sight(), situation.wallTime(), situation.now());
    }

    /** Whether the server clearly rejected the request, as opposed to failing or giving no answer. */
    private static boolean isRefusal(Throwable error) {
        return Failures.cause(error) instanceof ApiException refused && refused.code() < 500;
    }
}
