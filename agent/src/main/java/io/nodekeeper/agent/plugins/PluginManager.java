package io.nodekeeper.agent.plugins;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.plugin.PluginCalls;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers the plugins whose sockets are in a directory, and forgets those whose sockets are gone. Each socket has its own calls,
 * so one that hangs delays no other. {@link #start} and {@link #stop} may be called from any thread; the rest is confined to the
 * loop.
 */
public final class PluginManager {
    private static final Logger log = LoggerFactory.getLogger(PluginManager.class);
    /** The kubelet's period. */
    private static final Duration PERIOD = Duration.ofSeconds(1);
    /** The deadline of reading it: a directory on a local disk takes some ms. */
    private static final Duration SCAN = Duration.ofSeconds(10);

    private final PluginDirectory directory;
    private final Path path;
    private final PluginTable table = new PluginTable();
    private final PluginRegistration registration;
    private final Map<String, PluginHandler> handlers;
    private final BlockingCalls disk;
    private final Loop loop;
    private final RandomGenerator random;
    private Optional<Periodic> period = Optional.empty();
    private boolean scanned;
    /** Monotonic ns. */
    private long scanAt;

    private String lastFault = "";

    /**
     * A manager that is not started yet.
     *
     * @param directory in which plugins make their sockets; it is made if it is missing
     * @param handlers by the type of plugins
     * @param disk runs what blocks on the directory
     * @param loop on which the answers of {@code calls} come
     */
    public PluginManager(
            Path directory,
            PluginCalls calls,
            Map<String, PluginHandler> handlers,
            BlockingCalls disk,
            Loop loop,
            RandomGenerator random) {
        this.directory = new PluginDirectory(directory);
        this.path = directory;
        this.handlers = Map.copyOf(handlers);
        this.registration = new PluginRegistration(calls, handlers);
        this.disk = disk;
        this.loop = loop;
        this.random = random;
    }

    /** Begins to look for plugins. */
    public void start() {
        loop.execute(() -> period = Optional.of(Periodic.start("plugins", loop, PERIOD, 0, random, this::round)));
    }

    /** Looks no longer. Registered plugins stay registered. */
    public void stop() {
        loop.execute(() -> {
            period.ifPresent(Periodic::stop);
            directory.close();
        });
    }

    private CompletableFuture<Void> round() {
        long now = loop.clock().nanoTime();
        if (scanned && !directory.changed() && now - scanAt < 0) {
            reconcile();
            return CompletableFuture.completedFuture(null);
        }
        return disk.call(path.toString(), SCAN, directory::scan)
                .handleAsync(
                        (sockets, error) -> {
                            if (error == null) {
                                scanned = true;
                                scanAt = loop.clock().nanoTime() + PluginDirectory.RESCAN.toNanos();
                                lastFault = "";
                                table.desire(sockets);
                            } else if (!lastFault.equals(Failures.text(error))) {
                                lastFault = Failures.text(error);
                                log.error("Plugins in {} cannot be found: {}", path, lastFault);
                            }
                            reconcile();
                            return null;
                        },
                        loop);
    }

    private void reconcile() {
        List<PluginTable.Step> steps = table.due(loop.clock().nanoTime());
        for (PluginTable.Step step : steps) {
            switch (step) {
                case PluginTable.Step.Register register -> register(register);
                case PluginTable.Step.Deregister deregister -> deregister(deregister);
            }
        }
        // A socket that was replaced registers in the same round.
        if (steps.stream().anyMatch(PluginTable.Step.Deregister.class::isInstance)) {
            reconcile();
        }
    }

    private void deregister(PluginTable.Step.Deregister step) {
        Plugin plugin = step.plugin();
        log.info("Plugin {} of type {} at {} is gone", plugin.name(), plugin.type(), step.socket());
        PluginHandler handler = handlers.get(plugin.type());
        if (handler != null) {
            handler.deregister(plugin);
        }
        table.deregistered(step);
    }

    private void register(PluginTable.Step.Register step) {
        registration.register(step.socket()).whenComplete((plugin, error) -> {
            if (error == null) {
                log.info("Registered plugin {} of type {} at {}", plugin.name(), plugin.type(), step.socket());
                table.registered(step, plugin);
                return;
            }
            Duration pause = table.failed(step, loop.clock().nanoTime());
            log.error("{}; trying again in {}", Failures.text(error), GoDuration.format(pause));
        });
    }
}
