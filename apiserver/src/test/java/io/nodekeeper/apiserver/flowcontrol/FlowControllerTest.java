package io.nodekeeper.apiserver.flowcontrol;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.request.User;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The limit that a request counts for. */
class FlowControllerTest {
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final User N1 = User.authenticated("system:node:n1", List.of("system:nodes"));
    private static final User CONTROLLER = User.authenticated("system:kube-controller-manager", List.of());
    private static final User ALICE = User.authenticated("alice", List.of());

    @Test
    void requestsCountForTheirLimit() {
        assertThat(kind(N1, "PUT", LEASES + "/n1")).isEqualTo(ConcurrencyLimits.Kind.HEARTBEAT);
        assertThat(kind(N1, "GET", LEASES + "/n1")).isEqualTo(ConcurrencyLimits.Kind.HEARTBEAT);
        assertThat(kind(N1, "PATCH", "/api/v1/nodes/n1/status")).isEqualTo(ConcurrencyLimits.Kind.HEARTBEAT);
        assertThat(kind(N1, "POST", "/api/v1/nodes")).isEqualTo(ConcurrencyLimits.Kind.HEARTBEAT);
        assertThat(kind(N1, "GET", "/api/v1/nodes")).isEqualTo(ConcurrencyLimits.Kind.READ);
        assertThat(kind(N1, "POST", "/api/v1/namespaces/default/events")).isEqualTo(ConcurrencyLimits.Kind.WRITE);
        assertThat(kind(
                        CONTROLLER,
                        "PUT",
                        "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"))
                .isEqualTo(ConcurrencyLimits.Kind.HEARTBEAT);
        assertThat(kind(ALICE, "PUT", LEASES + "/n1")).isEqualTo(ConcurrencyLimits.Kind.WRITE);
        assertThat(kind(ALICE, "PATCH", "/api/v1/nodes/n1/status")).isEqualTo(ConcurrencyLimits.Kind.WRITE);
        assertThat(kind(CONTROLLER, "DELETE", "/api/v1/namespaces/default/pods/p"))
                .isEqualTo(ConcurrencyLimits.Kind.WRITE);
    }

    private static ConcurrencyLimits.Kind kind(User user, String method, String path) {
        return FlowController.kind(user, RequestInfo.of(method, path, false));
    }
}
