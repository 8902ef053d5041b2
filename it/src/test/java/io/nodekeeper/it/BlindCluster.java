package io.nodekeeper.it;

import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.store.etcd.EtcdCluster;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A control plane of real processes that can be blinded in several ways: the API server's store is on a separate disk where a test needs one, and the controller reaches the API server through a relay. Two processes of hollow nodes report past
 * the relay; one of them can be killed. Used by one thread.
 */
final class BlindCluster implements AutoCloseable {
    static final Duration GRACE = Duration.ofSeconds(40);
    static final int STEADY = 50;
    static final int MORTAL = 10;

    private static final String STEADY_PREFIX = "steady-";
    private static final String MORTAL_PREFIX = "mortal-";
    /** Each node renews once in this time, so that the controller has seen a renewal of each. */
    private static final Duration SETTLED = Duration.ofSeconds(12);

    /** Two at a time: one uses the processors while the other waits; more would slow each other down. */
    private static final Semaphore STARTING = new Semaphore(2);

    private static final Pattern HOP = Pattern.compile("\\((store|API server|watch|controller)\\)");

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final Optional<LoopDisk> disk;
    private final Optional<EtcdCluster> etcd;
    private final Running server;
    private final Running controller;
    private final Running mortal;
    private final Relay relay;
    private final Fleet fleet;

    /** Starts everything in {@code directory}, and returns when all nodes are Ready and have renewed. */
    BlindCluster(Path directory, Blindness.Storage storage, List<String> controllerFlags) throws Exception {
        STARTING.acquire();
        try {
            Path data = directory.resolve("data");
            disk = storage == Blindness.Storage.OWN_DISK
                    ? Optional.of(opened(LoopDisk.mount(directory.resolve("disk.img"), data.resolve("store"))))
                    : Optional.empty();
            etcd = storage == Blindness.Storage.ETCD
                    ? Optional.of(opened(EtcdCluster.start(directory.resolve("etcd"), 3)))
                    : Optional.empty();
            List<String> serverFlags =
                    new ArrayList<>(List.of("apiserver", "--data-dir", data.toString(), "--secure-port", "0"));
            etcd.ifPresent(members -> serverFlags.addAll(List.of("--store=etcd", members.serversFlag())));
            server = opened(Running.startSmall(directory, "apiserver", serverFlags));
            server.awaitReady();
            relay = opened(new Relay(data));
            List<String> flags = new ArrayList<>(List.of(
                    "controller",
                    "--kubeconfig",
                    relay.kubeconfig().toString(),
                    // Alone: with a lock it would end after 10 s without the API, and the next one would see.
                    "--leader-elect=false",
                    "--node-monitor-grace-period=" + GRACE.toSeconds() + "s"));
            flags.addAll(controllerFlags);
            controller = opened(Running.startSmall(directory, "controller", flags));
            Path admin = data.resolve("admin.kubeconfig");
            Running steady = opened(Running.hollowSmall(directory, admin, STEADY_PREFIX, STEADY));
            mortal = opened(Running.hollowSmall(directory, admin, MORTAL_PREFIX, MORTAL));
            fleet = opened(new Fleet(admin));
            steady.awaitReady();
            mortal.awaitReady();
            Eventually.within(
                    Duration.ofSeconds(120), () -> fleet.ready() == STEADY + MORTAL && relay.leaseWatches() > 0);
        } catch (Exception | Error e) {
            closeParts();
            throw e;
        } finally {
            STARTING.release();
        }
        Thread.sleep(SETTLED.toMillis());
    }

    void network(Relay.Fault fault) throws Exception {
        relay.set(fault);
    }

    void freezeServer() throws Exception {
        server.signal("STOP");
    }

    void thawServer() throws Exception {
        server.signal("CONT");
    }

    void freezeController() throws Exception {
        controller.signal("STOP");
    }

    void thawController() throws Exception {
        controller.signal("CONT");
    }

    void freezeDisk() throws Exception {
        disk.orElseThrow().freeze();
    }

    void thawDisk() throws Exception {
        disk.orElseThrow().thaw();
    }

    /** Freezes the first {@code members} of etcd's. */
    void freezeEtcd(int members) throws Exception {
        for (int member = 0; member < members; member++) {
            etcd.orElseThrow().freeze(member);
        }
    }

    void thawEtcd(int members) throws Exception {
        for (int member = 0; member < members; member++) {
            etcd.orElseThrow().thaw(member);
        }
    }

    /** Kills the process of the mortal nodes. */
    void crash() throws Exception {
        mortal.kill();
    }

    /** When each node's Ready last changed its word, by what the API says. */
    Map<String, String> transitions() throws Exception {
        return Fleet.await(fleet.client().list(ResourceType.NODES, "", ""))
                .array("items")
                .objects()
                .map(Node::new)
                .collect(Collectors.toMap(
                        ApiObject::name,
                        node -> node.ready()
                                .map(ready -> ready.status() + " since "
                                        + ready.json().text("lastTransitionTime"))
                                .orElse("")));
    }

    /**
     * The nodes that live and were blamed: seen as Unknown by a watch, or not what they were {@code before} by a list,
     * which a gap in the watch cannot hide.
     */
    List<String> falselyBlamed(Map<String, String> before, boolean mortalLive) throws Exception {
        Map<String, String> after = transitions();
        return before.keySet().stream()
                .filter(name -> mortalLive || name.startsWith(STEADY_PREFIX))
                .filter(name -> fleet.node(name).marked > 0
                        || !after.getOrDefault(name, "gone").equals(before.get(name)))
                .sorted()
                .toList();
    }

    /** What was seen of the mortal nodes. */
    List<Fleet.Seen> crashed() {
        return fleet.nodes().entrySet().stream()
                .filter(node -> node.getKey().startsWith(MORTAL_PREFIX))
                .map(Map.Entry::getValue)
                .toList();
    }

    /** Whether every node that lives is Ready and was renewed since {@code moment}. */
    boolean recovered(long moment, boolean mortalLive) {
        return fleet.nodes().entrySet().stream()
                        .filter(node -> mortalLive || node.getKey().startsWith(STEADY_PREFIX))
                        .filter(node -> node.getValue().ready.equals(Condition.TRUE))
                        .filter(node -> node.getValue().renewal > moment)
                        .count()
                == STEADY + (mortalLive ? MORTAL : 0);
    }

    /** The count of verdicts starts again at 0. */
    void forgetMarks() {
        fleet.nodes().values().forEach(seen -> seen.marked = 0);
    }

    /** The length of the controller's log. */
    int logged() throws Exception {
        return controller.log().length();
    }

    /**
     * The hops that the controller named since {@code begin} as the ones where it lost sight, by its events in the API and those that it
     * told its log after so many characters. The API gets only a burst of them, which a busy machine takes before the fault.
     */
    Set<String> hopsNamed(Instant begin, int logged) throws Exception {
        Set<String> hops = new TreeSet<>();
        controller
                .log()
                .substring(logged)
                .lines()
                .filter(line -> line.contains("reason=\"ObserverBlind\""))
                .map(HOP::matcher)
                .filter(Matcher::find)
                .forEach(hop -> hops.add(hop.group(1)));
        for (JsonObject event : Fleet.await(fleet.client().list(ResourceType.EVENTS, Lease.NODE_NAMESPACE, ""))
                .array("items")
                .objects()
                .toList()) {
            // Told in whole seconds.
            if (Instant.parse(event.text("lastTimestamp")).isBefore(begin.truncatedTo(ChronoUnit.SECONDS))) {
                continue;
            }
            Matcher hop = HOP.matcher(event.text("message"));
            if (event.text("reason").equals("ObserverBlind") && hop.find()) {
                hops.add(hop.group(1));
            }
        }
        return hops;
    }

    /** The controller's log, and keeps a copy at {@code copy}. */
    void keepLog(Path copy) throws Exception {
        Files.writeString(copy, controller.log());
    }

    @Override
    public void close() throws Exception {
        // A process that waits for a frozen disk does not even die, so the disk goes on before all others end.
        if (disk.isPresent()) {
            disk.get().thawIfFrozen();
        }
        closeParts();
    }

    private void closeParts() throws Exception {
        while (!parts.isEmpty()) {
            parts.pop().close();
        }
    }

    private <T extends AutoCloseable> T opened(T part) {
        parts.push(part);
        return part;
    }
}
