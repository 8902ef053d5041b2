package io.nodekeeper.simulator.cluster;

import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.client.FencedTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.events.ApiEventRecorder;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.client.leaderelection.LeaderElector;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.Controller;
import io.nodekeeper.controller.ControllerPorts;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.simulator.network.Cable;
import io.nodekeeper.simulator.network.SimNetwork;
import io.nodekeeper.simulator.network.SimTransport;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** The controller, wired as in its real process, alone or as one of several candidates. Confined to virtual time. */
public final class SimController extends SimProcess {
    /** Receives a controller's activities for the cluster. */
    public interface Witness {
        /** The controller has become active. */
        void began(SimController controller);

        /** The process has lost the leadership and exits, as a real one does. */
        void lostLead(SimController controller);

        /** A candidate sends a write that is not about the lock. */
        void writes(String identity, String call);

        /** Ignores everything. */
        Witness NONE = new Witness() {
            @Override
            public void began(SimController controller) {}

            @Override
            public void lostLead(SimController controller) {}

            @Override
            public void writes(String identity, String call) {}
        };
    }

    public static final String NAME = "controller";

    /** The name of controller {@code number}, from 1. */
    public static String name(int number) {
        return number == 1 ? NAME : NAME + number;
    }

    /** The deadline of lists in a real controller's process. */
    private static final Duration LIST_TIMEOUT = Duration.ofSeconds(30);

    private final SimNetwork network;
    private final RandomGenerator seeds;
    private final ClusterSetup setup;
    private final UnaryOperator<Transport> tap;
    private final CanaryRefusal refusal = new CanaryRefusal();
    private final Witness witness;
    private Optional<SimTransport> transport = Optional.empty();
    /** The controller of the current life, once it is active. */
    private Optional<Controller> working = Optional.empty();

    private int lives;

    /** {@code tap} wraps the transport to the network. */
    public SimController(
            VirtualTime time,
            SimNetwork network,
            String name,
            RandomGenerator seeds,
            ClusterSetup setup,
            UnaryOperator<Transport> tap,
            Witness witness) {
        super(time, name);
        this.network = network;
        this.seeds = seeds;
        this.setup = setup;
        this.tap = tap;
        this.witness = witness;
    }

    /** Breaks its connections and refuses new ones. */
    public void disconnect() {
        cable().become(Cable.State.CUT);
        network.cableCut(cable());
    }

    /** Lets it connect again. */
    public void connect() {
        cable().become(Cable.State.UP);
    }

    /** Refuses its canaries with this status from now on; 0 accepts them. */
    void refuseCanary(int status) {
        refusal.status(status);
    }

    @Override
    void boot(VirtualTime.VirtualLoop loop) {
        lives++;
        working = Optional.empty();
        RandomGenerator random = Randoms.seeded(seeds.nextLong());
        SimTransport connected =
                new SimTransport(network, cable(), User.authenticated("system:kube-controller-manager", List.of()));
        transport = Optional.of(connected);
        Transport way = refusal.before(tap.apply(connected));
        if (setup.elected()) {
            stand(loop, way, random);
        } else {
            work(loop, way, random);
        }
    }

    @Override
    void halt() {
        transport.ifPresent(SimTransport::close);
        transport = Optional.empty();
    }

    private void stand(VirtualTime.VirtualLoop loop, Transport way, RandomGenerator random) {
        String identity = name() + "_" + lives;
        VirtualTime.VirtualLoop electionLoop = thread(name() + "-election");
        LeaderElectionConfig lock = LeaderElectionConfig.defaults();
        KubeClient own = new KubeClient(way, electionLoop, lock.callTimeout());
        Candidate candidate = new Candidate(lock.retryPeriod());
        LeaderElector elector = new LeaderElector(
                lock,
                identity,
                own,
                new ApiEventRecorder(own, "kube-controller-manager", "", random),
                random,
                candidate);
        Transport reported = new WriteReporter(way, call -> witness.writes(identity, call.toString()));
        candidate.started = () -> loop.execute(
                () -> work(loop, new FencedTransport(reported, elector::leads, PriorityWorkQueue.CALLS), random));
        elector.start();
    }

    private void work(VirtualTime.VirtualLoop loop, Transport way, RandomGenerator random) {
        KubeClient client = new KubeClient(way, loop, LIST_TIMEOUT);
        Controller controller = new Controller(
                setup.config(),
                new ControllerPorts(
                        client,
                        loop,
                        component -> new ApiEventRecorder(client, component, "", random),
                        random,
                        new ControllerMetrics(),
                        History.NONE));
        working = Optional.of(controller);
        controller.start();
        witness.began(this);
    }

    private final class Candidate implements LeaderElector.Callbacks {
        private final Duration period;
        private Runnable started = () -> {};

        private Candidate(Duration period) {
            this.period = period;
        }

        @Override
        public void started() {
            started.run();
        }

        @Override
        public void wrote(long sentAt, long acknowledgedAt) {
            working.ifPresent(controller -> controller.leaseWritten(sentAt, acknowledgedAt, period));
        }

        @Override
        public void stopped(boolean lost) {
            if (lost) {
                witness.lostLead(SimController.this);
            }
        }
    }
}
