package io.nodekeeper.controller.verdicts;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.controller.heartbeats.Signal;
import io.nodekeeper.controller.observer.ProofKind;
import io.nodekeeper.controller.verdicts.Judgement.Command;
import io.nodekeeper.controller.verdicts.Judgement.Fact;
import io.nodekeeper.controller.verdicts.Judgement.Input;
import io.nodekeeper.controller.verdicts.Judgement.Stage;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A judgement as a function of values: without server, loop or clock. */
class JudgementTest {
    private static final Instant START = Instant.parse("2020-01-01T00:00:00Z");
    private static final long SECOND = 1_000_000_000L;
    private static final long FRESHNESS = 2 * SECOND;

    private long now = 41 * SECOND;
    private long deadline = 40 * SECOND;
    private boolean followed = true;
    private String ready = "True";

    private final Judgement judgement = new Judgement("n1", "uid-1", FRESHNESS, now);

    @Test
    void silentNodeIsProvenReadProvenAgainAndWritten() {
        assertThat(step(new Input.Check())).containsExactly(new Command.Prove());
        assertThat(step(new Input.ProofChecked(true))).containsExactly(new Command.Read());
        assertThat(judgement.stage()).isEqualTo(Stage.WORKING);

        assertThat(step(objectsRead("uid-1", "True"))).hasSize(1).first().isInstanceOf(Command.TakeIn.class);
        assertThat(step(new Input.TakenIn())).containsExactly(new Command.Prove());
        List<Command> write = step(new Input.ProofChecked(true));
        assertThat(write).hasSize(2);
        assertThat(((Command.WriteStatus) write.getLast())
                        .node()
                        .ready()
                        .orElseThrow()
                        .status())
                .isEqualTo("Unknown");

        List<Command> end = step(new Input.WriteAnswered(node("uid-1", "Unknown")));
        assertThat(end.getLast()).isEqualTo(new Command.Close());
        assertThat(end).filteredOn(JudgementTest::isSilenced).hasSize(1);
        assertThat(judgement.stage()).isEqualTo(Stage.CLOSED);
    }

    @Test
    void withoutAProofNothingIsRead() {
        assertThat(step(new Input.Check())).containsExactly(new Command.Prove());
        assertThat(step(new Input.ProofChecked(false))).containsExactly(new Command.Wait());
        assertThat(judgement.stage()).isEqualTo(Stage.WAITING);
    }

    @Test
    void renewalThatArrivesBeforeTheCheckEndsTheJudgement() {
        deadline = now;

        assertThat(step(new Input.Check())).containsExactly(new Command.Close());
    }

    @Test
    void renewalThatOnlyTheReadShowedSparesTheNode() {
        read();
        deadline = now + 1;

        assertThat(step(new Input.TakenIn()))
                .extracting(command -> command.getClass().getSimpleName())
                .containsExactly("Publish", "Publish", "Close");
    }

    @Test
    void writeWithoutAnAnswerIsFollowedUpWithoutAProof() {
        write();
        assertThat(step(new Input.WriteFailed(new TransportException("connection reset", null))))
                .endsWith(new Command.Pause(Duration.ofMillis(20)));

        assertThat(step(new Input.Check())).containsExactly(new Command.Read());
        step(objectsRead("uid-1", "Unknown"));
        ready = "Unknown";
        assertThat(step(new Input.TakenIn()))
                .filteredOn(JudgementTest::isSilenced)
                .hasSize(1);
    }

    /** The first write arrives after the second attempt has read the node. */
    @Test
    void conflictWithTheOwnWriteThatHadNoAnswerIsFollowedUp() {
        write();
        step(new Input.WriteFailed(new TransportException("no answer", null)));
        step(new Input.Check());
        step(objectsRead("uid-1", "True"));
        step(new Input.TakenIn());
        step(new Input.ProofChecked(true));
        step(new Input.WriteFailed(new ApiException(409, "Conflict", "planted")));

        assertThat(step(new Input.Check())).containsExactly(new Command.Read());
        step(objectsRead("uid-1", "Unknown"));
        ready = "Unknown";
        assertThat(step(new Input.TakenIn()))
                .filteredOn(JudgementTest::isSilenced)
                .hasSize(1);
    }

    @Test
    void writeThatWasRefusedIsNotFollowedUp() {
        write();
        step(new Input.WriteFailed(new ApiException(409, "Conflict", "planted")));
        deadline = now;

        assertThat(step(new Input.Check())).containsExactly(new Command.Close());
    }

    @Test
    void judgementWhoseEndFailsWaitsForTheNextCheck() {
        followed = false;
        assertThat(step(new Input.Check())).containsExactly(new Command.Close());

        assertThat(step(new Input.StepFailed(new IllegalStateException("planted"))))
                .containsExactly(new Command.Wait());
        assertThat(judgement.stage()).isEqualTo(Stage.WAITING);
    }

    /**
     * Random answers, in every order that a runner can produce: each step ends with exactly one command that leads to a
     * next input or closes the judgement, and nothing is written that was not proven after the last read.
     */
    @Test
    void everyStepLeadsToAnotherOneForAllAnswers() {
        int writes = 0;
        for (int seed = 0; seed < 2_000; seed++) {
            Random random = new Random(seed);
            Judgement any = new Judgement("n1", "uid-1", FRESHNESS, now);
            Input input = new Input.Check();
            boolean read = false;
            boolean proven = false;
            for (int i = 0; i < 60; i++) {
                followed = random.nextInt(20) > 0;
                deadline = now + (random.nextInt(4) == 0 ? SECOND : -SECOND);
                ready = random.nextInt(6) == 0 ? "Unknown" : "True";
                if (input instanceof Input.TakenIn) {
                    read = true;
                    proven = false;
                }
                proven |= input instanceof Input.ProofChecked(boolean seen) && seen;

                List<Command> commands = any.step(input, situation());

                assertThat(commands.subList(0, commands.size() - 1))
                        .as("seed %s", seed)
                        .allMatch(command ->
                                command instanceof Command.Publish || command instanceof Command.TakeWritten);
                Command last = commands.getLast();
                if (last instanceof Command.WriteStatus) {
                    writes++;
                    assertThat(read && proven).as("seed %s", seed).isTrue();
                }
                assertThat(any.stage()).as("seed %s", seed).isIn(stagesAfter(last));
                if (last instanceof Command.Close && random.nextInt(4) > 0) {
                    break;
                }
                input = random.nextInt(10) == 0
                        ? new Input.StepFailed(new IllegalStateException("planted"))
                        : answer(last, random);
            }
        }
        assertThat(writes).isGreaterThan(400);
    }

    private static List<Stage> stagesAfter(Command last) {
        return switch (last) {
            case Command.Wait wait -> List.of(Stage.WAITING);
            case Command.Close close -> List.of(Stage.CLOSED);
            // The proof before the read leaves the node waiting, the one after it does not.
            case Command.Prove prove -> List.of(Stage.WAITING, Stage.WORKING);
            default -> List.of(Stage.WORKING);
        };
    }

    private Input answer(Command command, Random random) {
        return switch (command) {
            case Command.Wait wait -> new Input.Check();
            case Command.Pause pause -> new Input.Check();
            case Command.Close close -> new Input.StepFailed(new IllegalStateException("planted"));
            case Command.Prove prove -> new Input.ProofChecked(random.nextInt(3) > 0);
            case Command.Read read ->
                random.nextInt(4) == 0
                        ? new Input.ReadFailed(new TransportException("connection reset", null))
                        : objectsRead(random.nextInt(8) == 0 ? "uid-2" : "uid-1", ready);
            case Command.TakeIn take -> new Input.TakenIn();
            case Command.WriteStatus write ->
                random.nextInt(3) == 0
                        ? new Input.WriteFailed(
                                random.nextBoolean()
                                        ? new ApiException(409, "Conflict", "planted")
                                        : new TransportException("connection reset", null))
                        : new Input.WriteAnswered(node("uid-1", "Unknown"));
            case Command.Publish publish -> throw new IllegalStateException("no last command: " + publish);
            case Command.TakeWritten written -> throw new IllegalStateException("no last command: " + written);
        };
    }

    private void read() {
        step(new Input.Check());
        step(new Input.ProofChecked(true));
        step(objectsRead("uid-1", "True"));
    }

    private void write() {
        read();
        step(new Input.TakenIn());
        step(new Input.ProofChecked(true));
    }

    private List<Command> step(Input input) {
        return judgement.step(input, situation());
    }

    private Judgement.Situation situation() {
        return new Judgement.Situation(
                now,
                START.plusNanos(now),
                followed,
                false,
                deadline,
                40 * SECOND,
                ready,
                new VerdictFacts.LastSign(Signal.FIRST_SIGHT, 0, "", -1, 0, 0),
                new VerdictFacts.Sight(true, ProofKind.WATCH, 0));
    }

    private Input.ObjectsRead objectsRead(String uid, String status) {
        return new Input.ObjectsRead(JsonObject.EMPTY, node(uid, status), now);
    }

    private static JsonObject node(String uid, String status) {
        return Json.parseObject("{\"metadata\":{\"name\":\"n1\",\"uid\":\"" + uid
                + "\",\"resourceVersion\":\"1\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" + status
                + "\"}]}}");
    }

    private static boolean isSilenced(Command command) {
        return command instanceof Command.Publish(Fact fact) && fact instanceof Fact.Silenced;
    }
}
