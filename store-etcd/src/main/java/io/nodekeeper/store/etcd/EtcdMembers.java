package io.nodekeeper.store.etcd;

import io.grpc.MethodDescriptor;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The members of the cluster. One of them serves all calls until it fails or stops responding; then the next one does. Results
 * complete on the loop. Thread-safe.
 */
final class EtcdMembers {
    private static final Logger log = LoggerFactory.getLogger(EtcdMembers.class);
    /** Deadline of a read at one member: an election of etcd takes 1 to 2 s. */
    static final Duration READ = Duration.ofSeconds(2);
    /**
     * Deadline of a read with all retries: enough for three attempts that time out, one at each member of a cluster of three. Attempts
     * that are refused at once are more.
     */
    static final Duration READ_IN_ALL = Duration.ofSeconds(8);
    /** Pause before a retry of a read, so that a refused connection does not cause a busy loop. */
    private static final Duration PAUSE = Duration.ofMillis(50);

    /** In this time each member is left at most once: without a quorum all calls fail at all members, hundreds in a second. */
    private static final Duration ROUND = Duration.ofMillis(500);

    private final Loop loop;
    private final Clock clock;
    private final List<EtcdMember> members;
    /** The number of the member in use. Changed only by {@link #leave(int, String)}. */
    private volatile int used;
    /** When the current round of switches began, ns of the clock, and how many it has had. Guarded by this. */
    private long roundBegan;

    private int switches;
    private final Runnable moved;

    /** {@code moved} runs on the loop after each switch to another member. */
    EtcdMembers(EtcdOptions options, Loop loop, Runnable moved) {
        this.loop = loop;
        this.moved = moved;
        this.clock = loop.clock();
        members = options.servers().stream()
                .map(server -> new EtcdMember(server, options, clock))
                .toList();
    }

    /** The member to use now. */
    EtcdMember pick() {
        int number = used;
        EtcdMember member = members.get(number);
        if (members.size() > 1 && member.silent()) {
            leave(number, "it does not respond");
            return members.get(used);
        }
        return member;
    }

    /** Switches from {@code member} to the next one, because of {@code why}. */
    void leave(EtcdMember member, String why) {
        leave(members.indexOf(member), why);
    }

    private synchronized void leave(int number, String why) {
        if (used != number || !maySwitch()) {
            return;
        }
        switches++;
        int next = (number + 1) % members.size();
        used = next;
        members.get(next).reconnect();
        loop.execute(moved);
        if (next != number) {
            log.info(
                    "switched to etcd member {} from {}: {}",
                    members.get(next).name(),
                    members.get(number).name(),
                    why);
        }
    }

    /** Whether another member may be used now; begins a round if it is time. */
    private boolean maySwitch() {
        long now = clock.nanoTime();
        if (switches == 0 || now - roundBegan >= ROUND.toNanos()) {
            roundBegan = now;
            switches = 0;
        }
        return switches < members.size();
    }

    /** A read-only call. Retried, also at other members, until it succeeds or its deadline expires. */
    <Q, A> CompletableFuture<A> read(MethodDescriptor<Q, A> method, Q request) {
        return read(method, request, READ_IN_ALL);
    }

    /** As {@link #read(MethodDescriptor, Object)}, within {@code inAll}; {@link #READ} is one attempt. */
    <Q, A> CompletableFuture<A> read(MethodDescriptor<Q, A> method, Q request, Duration inAll) {
        CompletableFuture<A> result = new CompletableFuture<>();
        read(method, request, clock.nanoTime(), inAll, result);
        return result;
    }

    private <Q, A> void read(
            MethodDescriptor<Q, A> method, Q request, long began, Duration inAll, CompletableFuture<A> result) {
        call(method, request, READ, result, failure -> {
            if (failure.membersFault() && clock.nanoTime() - began + READ.toNanos() <= inAll.toNanos()) {
                loop.schedule(PAUSE, () -> read(method, request, began, inAll, result));
            } else {
                result.completeExceptionally(failure);
            }
        });
    }

    /** A call that may change data. Retried at another member only if the request was never sent. */
    <Q, A> CompletableFuture<A> write(MethodDescriptor<Q, A> method, Q request, Duration deadline) {
        CompletableFuture<A> result = new CompletableFuture<>();
        write(method, request, deadline, members.size(), result);
        return result;
    }

    private <Q, A> void write(
            MethodDescriptor<Q, A> method, Q request, Duration deadline, int tries, CompletableFuture<A> result) {
        long began = clock.nanoTime();
        call(method, request, deadline, result, failure -> {
            Duration left = deadline.minusNanos(clock.nanoTime() - began);
            if (!failure.sent() && tries > 1 && left.isPositive()) {
                write(method, request, left, tries - 1, result);
            } else {
                result.completeExceptionally(failure);
            }
        });
    }

    /** Calls the member in use, and switches to the next one if it is at fault. {@code failed} handles a failure on the loop. */
    private <Q, A> void call(
            MethodDescriptor<Q, A> method,
            Q request,
            Duration deadline,
            CompletableFuture<A> result,
            Consumer<CallFailure> failed) {
        EtcdMember member = pick();
        member.call(method, request, deadline)
                .whenCompleteAsync(
                        (answer, error) -> {
                            if (error == null) {
                                result.complete(answer);
                                return;
                            }
                            CallFailure failure = CallFailure.of(error);
                            if (failure.membersFault()) {
                                leave(member, failure.why());
                            }
                            failed.accept(failure);
                        },
                        loop);
    }

    /** Closes all connections. */
    void close() {
        members.forEach(EtcdMember::close);
    }
}
