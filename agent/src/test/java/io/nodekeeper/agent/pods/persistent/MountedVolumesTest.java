package io.nodekeeper.agent.pods.persistent;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.stats.MountedVolume;
import io.nodekeeper.api.json.Json;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MountedVolumesTest {
    @Test
    void allVolumesThatHaveAPathAreMeasuredButThoseOfTheHost() {
        Pod pod = new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"}, "spec": {"volumes": [
                  {"name": "cache", "emptyDir": {}},
                  {"name": "host", "hostPath": {"path": "/"}},
                  {"name": "data", "persistentVolumeClaim": {"claimName": "claim"}},
                  {"name": "scratch", "ephemeral": {}},
                  {"name": "later", "secret": {"secretName": "s"}}]}}
                """));
        Map<String, Path> paths =
                Map.of("cache", Path.of("/c"), "host", Path.of("/"), "data", Path.of("/d"), "scratch", Path.of("/s"));

        assertThat(MountedVolumes.of(pod, paths))
                .containsExactly(
                        new MountedVolume("shop", "web", "u1", "cache", Path.of("/c"), Optional.empty(), true),
                        new MountedVolume("shop", "web", "u1", "data", Path.of("/d"), Optional.of("claim"), false),
                        new MountedVolume(
                                "shop", "web", "u1", "scratch", Path.of("/s"), Optional.of("web-scratch"), false));
    }
}
