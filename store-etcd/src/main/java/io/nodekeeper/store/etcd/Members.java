package io.nodekeeper.store.etcd;

import io.grpc.MethodDescriptor;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cluster's members, one of which is used for everything until it fails or falls silent; then the next one is. Results
 * come on the loop. Thread-safe.
 */
final class Members {
    private static final Logger log = LoggerFactory.getLogger(Members.class);
    /** How long a read may take at one member. Chosen: an election of etcd takes 1 to 2 s. */
    static final Duration READ = Duration.ofSeconds(2);
    /** How long a read may take with all members that are tried. Chosen. */
    private static final Duration READ_IN_ALL = Duration.ofSeconds(8);
    /** Between two tries of a read. Chosen. */
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final Loop loop;
    private final Clock clock;
    private final List<Member> members;
    private final AtomicInteger used = new AtomicInteger();
    private final Runnable moved;

    /** {@code moved} runs on the loop whenever another member is used from now on. */
    Members(EtcdOptions options, Loop loop, Runnable moved) {
        this.loop = loop;
        this.moved = moved;
        this.clock = loop.clock();
        members = options.servers().stream()
                .map(server -> new Member(server, options, clock))
                .toList();
    }

    /** The one to use now. */
    Member pick() {
        int number = used.get();
        Member member = members.get(number);
        if (members.size() > 1 && member.silent()) {
            leave(number, "it does not answer");
            return members.get(used.get());
        }
        return member;
    }

    /** From now on {@code member} is not used, as {@code why} tells, unless there is no other. */
    void leave(Member member, String why) {
        leave(members.indexOf(member), why);
    }

    private void leave(int number, String why) {
        int next = (number + 1) % members.size();
        if (used.compareAndSet(number, next)) {
            members.get(next).reconnect();
            loop.execute(moved);
            if (next != number) {
                log.info(
                        "etcd is used at {} instead of {}: {}",
                        members.get(next).name(),
                        members.get(number).name(),
                        why);
            }
        }
    }

    /** A call that changes nothing: made again, elsewhere if need be, until it is answered or too late. */
    <Q, A> CompletableFuture<A> read(MethodDescriptor<Q, A> method, Q request) {
        CompletableFuture<A> result = new CompletableFuture<>();
        read(method, request, clock.nanoTime(), result);
        return result;
    }

    private <Q, A> void read(MethodDescriptor<Q, A> method, Q request, long began, CompletableFuture<A> result) {
        call(method, request, READ, result, failure -> {
            if (failure.membersFault() && clock.nanoTime() - began + READ.toNanos() <= READ_IN_ALL.toNanos()) {
                loop.schedule(PAUSE, () -> read(method, request, began, result));
            } else {
                result.completeExceptionally(failure);
            }
        });
    }

    /** A call that may change something: made again elsewhere only if it never left this machine. */
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

    /** Calls the member in use, and leaves it if it is to blame; {@code failed} decides on the loop what comes next. */
    private <Q, A> void call(
            MethodDescriptor<Q, A> method,
            Q request,
            Duration deadline,
            CompletableFuture<A> result,
            Consumer<CallFailure> failed) {
        Member member = pick();
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
        members.forEach(Member::close);
    }
}
