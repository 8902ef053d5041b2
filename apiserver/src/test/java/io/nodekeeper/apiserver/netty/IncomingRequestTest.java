package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.testing.TestServer;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** URLs of clients. */
class IncomingRequestTest {
    private static ApiRequest request(String uri) {
        EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
        return new IncomingRequest(
                        ServerContexts.of(new TestServer(), 1 << 20),
                        channel.pipeline().firstContext(),
                        new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, uri),
                        Optional.of(ClientCertificate.of(TestServer.ADMIN)),
                        name -> {})
                .complete();
    }

    @Test
    void commandOf1500WordsReachesTheNodeWhole() {
        // given a pod on a node
        TestServer server = new TestServer();
        server.node("n1");
        server.patch(
                TestServer.MERGE,
                "/api/v1/nodes/n1/status",
                "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"10.0.0.7\"}]}}");
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("web", "n1"));
        String words =
                IntStream.rangeClosed(1, 1_500).mapToObj(i -> "command=f" + i).collect(Collectors.joining("&"));

        // when its client runs a long command
        ApiRequest request = request("/api/v1/namespaces/default/pods/web/exec?stdout=true&" + words);
        ApiResponse response = server.server.handle(request).join();

        // then no word is missing
        assertThat(request.query().get("command"))
                .hasSize(1_500)
                .startsWith("f1", "f2")
                .endsWith("f1500");
        assertThat(((ApiResponse.Relayed) response).call().target()).isEqualTo("/exec/default/web/c?output=1&" + words);
    }

    @Test
    void semicolonIsPartOfAValue() {
        assertThat(request("/x?command=a;b&command=c").query().get("command")).containsExactly("a;b", "c");
    }
}
