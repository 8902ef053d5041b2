package io.nodekeeper.store.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A store on an etcd that answers as a test chooses. */
class EtcdAnswersTest {
    private final TreeMap<String, KeyValue> stored = new TreeMap<>();
    private Server server;
    private Server other;
    private ShiftedLoop loop;
    /** Pages of more objects never arrive. */
    private volatile long largest = Long.MAX_VALUE;

    /** Whether pages of objects are refused, while all else works. */
    private volatile boolean pagesFail;

    private volatile Optional<Status> refusal = Optional.empty();
    /** Whether watches are refused at once. */
    private volatile boolean watchesFail;
    /** All watches that were opened, with those that were refused. */
    private final BlockingQueue<StreamObserver<WatchResponse>> watches = new LinkedBlockingQueue<>();
    /** The members that they were opened at. */
    private final List<String> watched = new CopyOnWriteArrayList<>();
    /** Whether an object has changed that no list has. */
    private volatile boolean changed;
    /** The revision of all answers. */
    private volatile long revision = 1_000;
    /** How long it takes to look for changes, milliseconds. */
    private volatile long slowness;

    @BeforeEach
    void start() throws Exception {
        server = startMember("one");
        other = startMember("two");
        loop = new ShiftedLoop();
    }

    private Server startMember(String name) throws Exception {
        return NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Kv())
                .addService(new Watches(name))
                .build()
                .start();
    }

    @AfterEach
    void stop() {
        server.shutdownNow();
        other.shutdownNow();
        loop.close();
    }

    private EtcdStore open() throws Exception {
        return open(List.of(server));
    }

    private EtcdStore open(List<Server> members) throws Exception {
        return EtcdStore.open(options(members), loop).get(30, TimeUnit.SECONDS);
    }

    private static EtcdOptions options(List<Server> members) {
        List<URI> addresses = members.stream()
                .map(member -> URI.create("http://127.0.0.1:" + member.getPort()))
                .toList();
        return EtcdOptions.of(addresses, Optional.empty(), "/registry");
    }

    private ResponseHeader header() {
        return ResponseHeader.newBuilder().setRevision(revision).build();
    }

    private static KeyValue node() {
        return KeyValue.newBuilder()
                .setKey(ByteString.copyFromUtf8("/registry/minions/n1"))
                .setValue(ByteString.copyFromUtf8("{}"))
                .setCreateRevision(1_000)
                .setModRevision(1_000)
                .build();
    }

    private final class Watches extends WatchGrpc.WatchImplBase {
        private final String member;

        Watches(String member) {
            this.member = member;
        }

        @Override
        public StreamObserver<WatchRequest> watch(StreamObserver<WatchResponse> answer) {
            watched.add(member);
            watches.add(answer);
            if (watchesFail) {
                answer.onError(Status.UNAVAILABLE.asRuntimeException());
            }
            return new StreamObserver<>() {
                @Override
                public void onNext(WatchRequest request) {}

                @Override
                public void onError(Throwable why) {}

                @Override
                public void onCompleted() {}
            };
        }
    }

    private final class Kv extends KVGrpc.KVImplBase {
        @Override
        public void range(RangeRequest request, StreamObserver<RangeResponse> answer) {
            if (request.getLimit() > largest) {
                return;
            }
            if (pagesFail && !request.getKeysOnly()) {
                answer.onError(Status.INTERNAL.asRuntimeException());
                return;
            }
            if (slowness > 0 && request.getMinModRevision() > 0) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(slowness));
            }
            RangeResponse.Builder found =
                    RangeResponse.newBuilder().setHeader(header()).setCount(stored.size());
            if (!request.getKeysOnly()) {
                var rest = stored.tailMap(request.getKey().toStringUtf8()).values();
                rest.stream().limit(request.getLimit()).forEach(found::addKvs);
                found.setMore(rest.size() > request.getLimit());
            } else if (changed && request.getMinModRevision() > 0) {
                found.addKvs(node());
            }
            answer.onNext(found.build());
            answer.onCompleted();
        }

        @Override
        public void txn(TxnRequest request, StreamObserver<TxnResponse> answer) {
            if (refusal.isPresent()) {
                answer.onError(refusal.get().asRuntimeException());
                return;
            }
            answer.onNext(TxnResponse.newBuilder()
                    .setHeader(header())
                    .setSucceeded(true)
                    .addResponses(ResponseOp.newBuilder().setResponsePut(PutResponse.getDefaultInstance()))
                    .build());
            answer.onCompleted();
        }
    }

    /** 500 Secrets of a megabyte each take longer than a read may. */
    @Test
    void pagesThatDoNotArriveInTimeBecomeSmaller() throws Exception {
        for (int i = 0; i < 300; i++) {
            String key = "/registry/secrets/default/s%03d".formatted(i);
            stored.put(
                    key,
                    KeyValue.newBuilder()
                            .setKey(ByteString.copyFromUtf8(key))
                            .setValue(ByteString.copyFromUtf8("{}"))
                            .setCreateRevision(1)
                            .setModRevision(1)
                            .build());
        }
        // Less than a quarter of the first page, so that one page becomes smaller twice.
        largest = 124;

        assertThat(open().list("/registry/secrets/", "", 0, 0).entries()).hasSize(300);
    }

    private void pass(Duration time) throws Exception {
        CompletableFuture<Void> passed = new CompletableFuture<>();
        loop.schedule(time, () -> passed.complete(null));
        passed.get(30, TimeUnit.SECONDS);
    }

    @Test
    void watchThatNoMemberServesIsTriedTwiceASecond() throws Exception {
        // given two members whose watches fail at once
        watchesFail = true;
        open(List.of(server, other));
        int before = watches.size();

        // when two seconds pass, or more until a busy machine has made the second attempt
        long began = System.nanoTime();
        pass(Duration.ofSeconds(2));
        for (int tries = 0; tries < 80 && watches.size() - before < 2; tries++) {
            pass(Duration.ofMillis(100));
        }
        int attempts = watches.size() - before;

        // then there is one attempt in each half of a second
        long halves = (System.nanoTime() - began) / 500_000_000;
        assertThat(attempts).isBetween(2, (int) halves + 2);
    }

    @Test
    void watchThatEndsMovesToTheNextMemberWithoutAPause() throws Exception {
        // given a watch that is a second old
        open(List.of(server, other));
        StreamObserver<WatchResponse> first = watches.take();
        loop.shift(Duration.ofSeconds(1));

        // when it ends
        loop.stopTimers();
        first.onError(Status.UNAVAILABLE.asRuntimeException());

        // then the next one begins, without a timer
        assertThat(watches.poll(20, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void watchThatEtcdCancelsMovesToTheNextMember() throws Exception {
        // given a watch that is a second old
        open(List.of(server, other));
        StreamObserver<WatchResponse> first = watches.take();
        loop.shift(Duration.ofSeconds(1));

        // when its member cancels it, as one that has no leader does
        first.onNext(WatchResponse.newBuilder()
                .setHeader(header())
                .setCanceled(true)
                .setCancelReason("no leader")
                .build());

        // then
        assertThat(watches.poll(20, TimeUnit.SECONDS)).isNotNull();
        assertThat(watched).containsExactly("one", "two");
    }

    @Test
    void membersThatRefuseAllCallsAreLeftOnceInHalfASecond() throws Exception {
        // given two members without a quorum
        refusal = Optional.of(Status.UNAVAILABLE);
        AtomicInteger switches = new AtomicInteger();
        EtcdMembers members = new EtcdMembers(options(List.of(server, other)), loop, switches::incrementAndGet);
        long began = loop.nanoTime();

        // when three hundred writes fail, some seconds apart after each hundred
        for (int i = 1; i <= 300; i++) {
            assertThat(members.write(KVGrpc.getTxnMethod(), TxnRequest.getDefaultInstance(), Duration.ofSeconds(10)))
                    .failsWithin(Duration.ofSeconds(10));
            if (i % 100 == 0) {
                loop.shift(Duration.ofSeconds(2));
            }
        }
        loop.settle();

        // then each member is left once in half a second, of which three are sure
        long halves = (loop.nanoTime() - began - Duration.ofSeconds(6).toNanos()) / 500_000_000;
        assertThat(switches.get()).isBetween(6, 6 + 2 * (int) halves);
        members.close();
    }

    @Test
    void startWaitsForAWatchThatDeliversLate() throws Exception {
        // given an object that has changed since the list, and a watch that tells so after six seconds
        changed = true;
        CompletableFuture.delayedExecutor(6, TimeUnit.SECONDS)
                .execute(() -> List.copyOf(watches)
                        .getLast()
                        .onNext(WatchResponse.newBuilder()
                                .setHeader(header())
                                .addEvents(Event.newBuilder().setKv(node()))
                                .build()));

        // when the store opens
        EtcdStore store = open();

        // then it has the object
        assertThat(store.get("/registry/minions/n1").orElseThrow().modRevision())
                .isEqualTo(1_000);
    }

    /**
     * After a slow look for changes the next one comes later: ten times as long as the look took, which is longer than a read waits if
     * a busy machine makes the look five times as slow. Then it is tried again.
     */
    @Test
    void readThatBeginsToWaitAfterASlowLookIsAnsweredToo() throws Exception {
        // given slow looks for changes
        EtcdStore store = open();
        slowness = 100;

        // when a read waits for a write of others, of which the watch says nothing, and another read for the next write
        boolean answered = false;
        for (int tries = 0; tries < 3 && !answered; tries++) {
            boolean first = seesNextWrite(store);
            answered = seesNextWrite(store) && first;
        }

        // then both are answered
        assertThat(answered).isTrue();
    }

    private boolean seesNextWrite(EtcdStore store) throws Exception {
        long next = revision + 1;
        revision = next;
        try {
            assertThat(store.current().get(10, TimeUnit.SECONDS)).isEqualTo(next);
            return true;
        } catch (ExecutionException e) {
            assertThat(e).hasMessageContaining("its watch has delivered changes up to");
            return false;
        }
    }

    private void assertRefused(EtcdStore store, String why) {
        refusal = Optional.of(Status.RESOURCE_EXHAUSTED.withDescription(why));
        assertThatThrownBy(() -> store.put("/registry/minions/n1", new byte[] {'{', '}'}, 0)
                        .get(10, TimeUnit.SECONDS))
                .hasMessageContaining(why);
    }

    @Test
    void lackOfSpaceIsUnhealthyForAWhileOnly() throws Exception {
        EtcdStore store = open();
        assertRefused(store, "etcdserver: mvcc: database space exceeded");
        assertThat(store.healthy()).isFalse();

        loop.shift(Duration.ofSeconds(31));
        store.current().get(10, TimeUnit.SECONDS);

        assertThat(store.healthy()).isTrue();
    }

    /** No watch receives anything until the list is there, also if all writes succeed. */
    @Test
    void listThatIsMissingForLongIsUnhealthy() throws Exception {
        // given a gap in the history, and an etcd that does not answer the list after it
        EtcdStore store = open();
        pagesFail = true;
        watches.take()
                .onNext(WatchResponse.newBuilder()
                        .setHeader(header())
                        .setCompactRevision(2_000)
                        .build());
        pass(Duration.ofSeconds(1));

        // when six seconds pass, and a write succeeds
        loop.shift(Duration.ofSeconds(6));
        store.put("/registry/minions/n1", new byte[] {'{', '}'}, 0).get(10, TimeUnit.SECONDS);

        // then the store is unhealthy, until it can list
        assertThat(store.healthy()).isFalse();
        pagesFail = false;
        for (int tries = 0; tries < 100 && !store.healthy(); tries++) {
            pass(Duration.ofMillis(100));
        }
        assertThat(store.healthy()).isTrue();
    }

    @Test
    void tooManyRequestsAreNoLackOfSpace() throws Exception {
        EtcdStore store = open();
        assertRefused(store, "etcdserver: too many requests");

        assertThat(store.healthy()).isTrue();
    }
}
