package io.nodekeeper.apiserver.controllers;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.testing.SlowValues;
import io.nodekeeper.apiserver.testing.TestServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A namespace that is too large to stay in memory. */
class NamespaceOnDiskTest {
    @Test
    void deletionGoesOnAfterAReadThatFailed() {
        // given a namespace that is deleted, with an object that holds it for now
        SlowValues disk = new SlowValues("/registry/namespaces/");
        TestServer server = new TestServer(disk);
        String maps = "/api/v1/namespaces/shop/configmaps";
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"shop\"}}");
        server.post(maps, "{\"metadata\":{\"name\":\"held\",\"finalizers\":[\"example.com/f\"]}}");
        server.delete("/api/v1/namespaces/shop", "");
        server.time.advance(Duration.ofSeconds(2));
        assertThat(server.get("/api/v1/namespaces/shop").json().object("status").text("phase"))
                .isEqualTo("Terminating");

        // when the namespace cannot be read for some seconds, and its last object goes after that
        disk.failing(true);
        server.time.advance(Duration.ofSeconds(5));
        disk.failing(false);
        server.patch(TestServer.MERGE, maps + "/held", "{\"metadata\":{\"finalizers\":null}}");
        server.time.advance(Duration.ofSeconds(5));

        // then it is gone
        assertThat(server.get("/api/v1/namespaces/shop").status()).isEqualTo(404);
    }
}
