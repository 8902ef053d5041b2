package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.PodConfig;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.heartbeat.NodeCache;
import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.PodRef;
import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.volumes.PodFiles;
import io.nodekeeper.agent.runtime.RuntimeView;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import io.nodekeeper.time.Workers;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/** Creates all parts that run pods, and owns their threads. */
public final class PodAssembly {
    /** The kubelet's period of looking for pods whose time has come. */
    private static final Duration PERIOD = Duration.ofSeconds(1);
    /** Threads for files. Each pod needs a few ms of them; four hung disks stop the files of all pods. */
    private static final int WORKERS = 4;

    private final Workers disk;
    private final PodManager manager;
    private final Loop loop;
    private final RandomGenerator random;
    private final LoopMonitor.Beat beat;
    private Optional<Periodic> ticks = Optional.empty();

    /**
     * Parts that are not started yet; {@code loop} runs all of them.
     *
     * @param client whose answers come on {@code loop}
     * @param runtime whose answers come on {@code loop}
     * @param foreign the pods of the runtime that must not be touched
     */
    public PodAssembly(
            AgentConfig config,
            KubeClient client,
            NodeCache nodes,
            ContainerRuntime runtime,
            Pleg pleg,
            RuntimeView view,
            Predicate<PodRef> foreign,
            EventRecorder events,
            Loop loop,
            LoopMonitor loops,
            RandomGenerator random) {
        this.loop = loop;
        this.random = random;
        disk = new Workers("pods", WORKERS, loop);
        beat = loops.loop("pods", PERIOD);
        PodConfig pods = config.pods();
        String name = config.nodeName();
        PodPorts ports = new PodPorts(
                runtime,
                config.runtime().requestTimeout(),
                client,
                events,
                loop,
                new PodFiles(config.rootDir(), pods.logsDirectory()),
                new PodPorts.Disk() {
                    @Override
                    public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work) {
                        return disk.call(what, deadline, work);
                    }
                },
                pods.resolvConf(),
                () -> NodeSettings.of(
                        name, nodes.node(name), pods.logsDirectory(), pods.clusterDns(), pods.clusterDomain()));
        PodWorker.Readiness readiness = new PodWorker.Readiness() {
            @Override
            public boolean runtime() {
                return view.errors().runtime().isEmpty();
            }

            @Override
            public boolean network() {
                return view.errors().network().isEmpty();
            }

            @Override
            public String runtimeName() {
                return view.facts().version().replaceFirst("://.*", "");
            }
        };
        int maxPods = config.maxPods();
        manager = new PodManager(ports, pleg, readiness, name, maxPods, foreign, random);
    }

    /** Starts to watch pods and to run them. */
    public void start() {
        loop.execute(() -> {
            manager.start();
            ticks = Optional.of(Periodic.start("pods", loop, PERIOD, 0, random, () -> {
                beat.beat();
                return manager.tick();
            }));
        });
    }

    /** Stops the parts; containers go on running. */
    public void stop() {
        loop.execute(() -> {
            ticks.ifPresent(Periodic::stop);
            manager.stop();
        });
        disk.close();
    }
}
