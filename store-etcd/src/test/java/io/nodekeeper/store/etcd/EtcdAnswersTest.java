package io.nodekeeper.store.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A store on an etcd that answers as a test chooses. */
class EtcdAnswersTest {
    private final TreeMap<String, KeyValue> stored = new TreeMap<>();
    private Server server;
    private ShiftedLoop loop;
    /** Pages of more objects never arrive. */
    private volatile long largest = Long.MAX_VALUE;

    private volatile Optional<Status> refusal = Optional.empty();

    @BeforeEach
    void start() throws Exception {
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Kv())
                .addService(new WatchGrpc.WatchImplBase() {})
                .build()
                .start();
        loop = new ShiftedLoop();
    }

    @AfterEach
    void stop() {
        server.shutdownNow();
        loop.close();
    }

    private EtcdStore open() throws Exception {
        URI address = URI.create("http://127.0.0.1:" + server.getPort());
        return EtcdStore.open(EtcdOptions.of(List.of(address), Optional.empty(), "/registry"), loop)
                .get(30, TimeUnit.SECONDS);
    }

    private static ResponseHeader header() {
        return ResponseHeader.newBuilder().setRevision(1_000).build();
    }

    private final class Kv extends KVGrpc.KVImplBase {
        @Override
        public void range(RangeRequest request, StreamObserver<RangeResponse> answer) {
            if (request.getLimit() > largest) {
                return;
            }
            RangeResponse.Builder found =
                    RangeResponse.newBuilder().setHeader(header()).setCount(stored.size());
            if (!request.getKeysOnly()) {
                var rest = stored.tailMap(request.getKey().toStringUtf8()).values();
                rest.stream().limit(request.getLimit()).forEach(found::addKvs);
                found.setMore(rest.size() > request.getLimit());
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
        largest = 100;

        assertThat(open().list("/registry/secrets/", "", 0, 0).entries()).hasSize(300);
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

    @Test
    void tooManyRequestsAreNoLackOfSpace() throws Exception {
        EtcdStore store = open();
        assertRefused(store, "etcdserver: too many requests");

        assertThat(store.healthy()).isTrue();
    }
}
