package io.nodekeeper.client.leaderelection;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Candidates, one server, and every kind of fault between them: there are never two leaders, and soon one again. */
class LeaderElectionFaultsTest {
    private static final Duration STEP = Duration.ofMillis(50);

    @Property(tries = 150)
    void thereAreNeverTwoLeadersAndSoonOneWhenFaultsEnd(@ForAll long seed) {
        World world = new World(seed, 2 + (int) Math.floorMod(seed, 2L));

        for (int i = 0; i < 12_000; i++) {
            world.misbehave();
            world.time.advance(STEP);
            assertThat(world.leaders())
                    .as("leaders at %s", world.time.elapsed())
                    .hasSizeLessThan(2);
        }
        world.heal();
        for (int i = 0; i < 1_200; i++) {
            world.time.advance(STEP);
            assertThat(world.leaders()).hasSizeLessThan(2);
        }

        assertThat(world.leaders()).hasSize(1);
        assertThat(world.won).as("elections in 10 min of faults").isGreaterThan(3);
    }

    private static final class World {
        private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
        private final LeaseStore store = new LeaseStore();
        private final RandomGenerator random;
        private final List<Process> processes = new ArrayList<>();
        private double faults = 0.05;
        private int born;
        private int won;

        private World(long seed, int count) {
            random = Randoms.seeded(seed);
            for (int i = 0; i < count; i++) {
                processes.add(new Process(this));
            }
        }

        private List<String> leaders() {
            return processes.stream()
                    .filter(process -> process.elector.leads())
                    .map(process -> process.name)
                    .toList();
        }

        /** Now and then a process is frozen, thawed, stopped, killed, cut off, or its clock is set. */
        private void misbehave() {
            for (int i = 0; i < processes.size(); i++) {
                Process process = processes.get(i);
                int dice = random.nextInt(4_000);
                if (dice < 4) {
                    process.loop.freeze();
                } else if (dice < 20) {
                    process.loop.thaw();
                } else if (dice < 22) {
                    process.elector.stop();
                    processes.set(i, new Process(this));
                } else if (dice < 24 || process.ended) {
                    process.loop.close();
                    processes.set(i, new Process(this));
                } else if (dice < 28) {
                    process.cut = true;
                } else if (dice < 40) {
                    process.cut = false;
                } else if (dice < 44) {
                    process.loop.skewWallClock(Duration.ofSeconds(random.nextLong(-7_200, 7_200)));
                }
            }
        }

        private void heal() {
            faults = 0;
            for (int i = 0; i < processes.size(); i++) {
                processes.get(i).cut = false;
                processes.get(i).loop.thaw();
                time.advance(Duration.ofMillis(1));
                if (processes.get(i).ended) {
                    processes.set(i, new Process(this));
                }
            }
        }
    }

    /** One candidate and its way to the server, on which calls and answers are late, lost or refused. */
    private static final class Process implements LeaderElector.Callbacks, Transport {
        private final World world;
        private final String name;
        private final VirtualTime.VirtualLoop loop;
        private final Loop network;
        private final LeaderElector elector;
        private boolean ended;
        private boolean cut;

        private Process(World world) {
            this.world = world;
            name = "p" + world.born++;
            loop = world.time.loop(name);
            network = world.time.loop("network of " + name);
            elector = new LeaderElector(
                    LeaderElectionConfig.defaults(),
                    name,
                    new KubeClient(this, loop, Duration.ofSeconds(30)),
                    (about, type, reason, message) -> {},
                    Randoms.seeded(name.hashCode()),
                    this);
            elector.start();
        }

        @Override
        public void started() {
            world.won++;
        }

        @Override
        public void stopped(boolean lost) {
            ended = lost;
        }

        @Override
        public CompletableFuture<Reply> send(Call call) {
            CompletableFuture<Reply> result = new CompletableFuture<>();
            network.schedule(delay(), () -> {
                if (cut || chance()) {
                    fail(result);
                    return;
                }
                Reply reply = chance()
                        ? FakeTransport.refusal(new ApiException(500, "InternalError", "on purpose"))
                        : world.store.answer(call);
                network.schedule(delay(), () -> {
                    if (cut || chance()) {
                        fail(result);
                    } else {
                        result.complete(reply);
                    }
                });
            });
            return result;
        }

        private void fail(CompletableFuture<Reply> result) {
            // Half of what is lost is never heard of again.
            if (world.random.nextBoolean()) {
                result.completeExceptionally(new TransportException("connection reset", null));
            }
        }

        /** Mostly a moment; sometimes longer than any deadline, so that a write given up long ago still arrives. */
        private Duration delay() {
            return Duration.ofMillis(chance() ? world.random.nextInt(30_000) : world.random.nextInt(1, 40));
        }

        private boolean chance() {
            return world.random.nextDouble() < world.faults;
        }

        @Override
        public Stream open(Call call, StreamHandler handler) {
            throw new UnsupportedOperationException("no candidate watches");
        }

        @Override
        public void close() {}
    }
}
