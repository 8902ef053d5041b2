package io.nodekeeper.agent.pods.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.cri.config.SecurityProfile;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which filter of system calls a container has. */
class SeccompTest {
    private static final String NONE = "{}";
    private static final String RUNTIME = "{\"seccompProfile\": {\"type\": \"RuntimeDefault\"}}";
    private static final String UNCONFINED = "{\"seccompProfile\": {\"type\": \"Unconfined\"}}";

    private final Seccomp usual = Seccomp.of(Path.of("/var/lib/kubelet"), false);
    private final Seccomp filtering = Seccomp.of(Path.of("/var/lib/kubelet"), true);

    private static SecurityProfile of(Seccomp seccomp, String shared, String own) {
        Pod pod = new Pod(Json.parseObject("""
                {"spec": {"securityContext": %s, "containers": [{"name": "app", "securityContext": %s}]}}
                """.formatted(shared, own)));
        return seccomp.of(pod, pod.containers().getFirst());
    }

    private static String local(String profile) {
        return "{\"seccompProfile\": {\"type\": \"Localhost\", \"localhostProfile\": \"%s\"}}".formatted(profile);
    }

    @Test
    void shouldFilterByDefaultOnlyIfTheNodeSaysSo() {
        assertThat(of(usual, NONE, NONE)).isEqualTo(SecurityProfile.UNCONFINED);
        assertThat(of(filtering, NONE, NONE)).isEqualTo(SecurityProfile.RUNTIME_DEFAULT);
        assertThat(of(filtering, UNCONFINED, NONE)).isEqualTo(SecurityProfile.UNCONFINED);
    }

    @Test
    void shouldPreferTheContainersOwnField() {
        assertThat(of(usual, RUNTIME, NONE)).isEqualTo(SecurityProfile.RUNTIME_DEFAULT);
        assertThat(of(usual, RUNTIME, UNCONFINED)).isEqualTo(SecurityProfile.UNCONFINED);
        assertThat(of(usual, local("a.json"), RUNTIME)).isEqualTo(SecurityProfile.RUNTIME_DEFAULT);
    }

    @Test
    void shouldFindTheNodesProfilesBelowItsRootDirectory() {
        assertThat(of(usual, local("a.json"), NONE))
                .isEqualTo(SecurityProfile.localhost("/var/lib/kubelet/seccomp/a.json"));
        assertThat(of(usual, NONE, local("profiles/./b.json")))
                .isEqualTo(SecurityProfile.localhost("/var/lib/kubelet/seccomp/profiles/b.json"));
    }

    @Test
    void shouldRefuseAProfileWithoutAName() {
        assertThatThrownBy(() -> of(usual, NONE, local("")))
                .isInstanceOf(ContainerConfigException.class)
                .hasMessage("localhostProfile must be set if seccompProfile type is Localhost.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/etc/a.json", "../a.json", "a/../../b.json"})
    void shouldRefusePathsThatLeadOut(String profile) {
        assertThatThrownBy(() -> of(usual, NONE, local(profile)))
                .isInstanceOf(ContainerConfigException.class)
                .hasMessage("localhostProfile must be a relative path without '..', got \"" + profile + "\"");
    }
}
