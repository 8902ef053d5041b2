package io.nodekeeper.controller.heartbeats;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import org.junit.jupiter.api.Test;

/** What is held of listed nodes and leases. */
class ListedPartsTest {
    @Test
    void aNodeHasWhatIsReadAndNotWhatIsLarge() {
        assertThat(ListedParts.ofNode(Json.parseObject("""
                        {"metadata": {"name": "n1", "uid": "u", "resourceVersion": "7", "labels": {"zone": "a"},
                          "annotations": {"a": "b"}, "managedFields": [{"manager": "m"}]},
                         "spec": {"taints": [{"key": "k", "effect": "NoExecute"}]},
                         "status": {"conditions": [{"type": "Ready", "status": "True"}],
                          "nodeInfo": {"bootID": "b"}, "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                          "images": [{"names": ["i"]}], "volumesInUse": ["v"]}}"""))).isEqualTo(Json.parseObject("""
                        {"metadata": {"name": "n1", "uid": "u", "resourceVersion": "7", "labels": {"zone": "a"}},
                         "spec": {"taints": [{"key": "k", "effect": "NoExecute"}]},
                         "status": {"conditions": [{"type": "Ready", "status": "True"}],
                          "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                          "nodeInfo": {"bootID": "b"}}}"""));
    }

    @Test
    void aLeaseHasItsNameVersionAndRenewal() {
        assertThat(ListedParts.ofLease(Json.parseObject("""
                        {"metadata": {"name": "n1", "namespace": "kube-node-lease", "uid": "u", "resourceVersion": "7",
                          "annotations": {"a": "b"}, "labels": {"c": "d"}},
                         "spec": {"holderIdentity": "n1", "renewTime": "2026-01-01T00:00:00.000000Z",
                          "leaseDurationSeconds": 40, "strategy": "s"}}"""))).isEqualTo(Json.parseObject("""
                        {"metadata": {"name": "n1", "namespace": "kube-node-lease", "uid": "u", "resourceVersion": "7"},
                         "spec": {"holderIdentity": "n1", "renewTime": "2026-01-01T00:00:00.000000Z",
                          "leaseDurationSeconds": 40}}"""));
    }
}
