package io.nodekeeper.controller.guard;

import static io.nodekeeper.controller.guard.Reviews.KCM;
import static io.nodekeeper.controller.guard.Reviews.NODE_CONTROLLER;
import static io.nodekeeper.controller.guard.Reviews.node;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which writes the guard looks at. */
class BlameTest {
    private static Optional<Blame> blame(String review) {
        return Blame.of(Review.parse(Reviews.bytes(review)), Blame.USERS);
    }

    @ParameterizedTest
    @CsvSource({
        "True, Unknown, true",
        "False, Unknown, true",
        "Unknown, Unknown, false",
        // A node that never reported: its kubelet may be broken although it renews its lease.
        "'', Unknown, false",
        "True, False, false",
        "Unknown, True, false",
        "True, True, false"
    })
    void aStatusIsCheckedIfReadyBecomesUnknown(String before, String after, boolean checked) {
        for (String user : List.of(NODE_CONTROLLER, KCM)) {
            assertThat(blame(Reviews.status(user, before, after)).isPresent()).isEqualTo(checked);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "node.kubernetes.io/unreachable:NoExecute, Unknown, true",
        "node.kubernetes.io/unreachable:NoSchedule, Unknown, true",
        "node.kubernetes.io/unreachable:NoExecute, True, true",
        "node.kubernetes.io/not-ready:NoExecute, Unknown, true",
        "node.kubernetes.io/not-ready:NoExecute, True, true",
        // The node says so itself.
        "node.kubernetes.io/not-ready:NoExecute, False, false",
        "node.kubernetes.io/memory-pressure:NoSchedule, True, false",
        "example.com/maintenance:NoExecute, True, false"
    })
    void anUpdateIsCheckedIfItAddsATaintForSilence(String taint, String ready, boolean checked) {
        assertThat(blame(Reviews.tainted(NODE_CONTROLLER, ready, taint)).isPresent())
                .isEqualTo(checked);
    }

    @Test
    void aTaintThatTheNodeHasAlreadyIsNotAdded() {
        String tainted = node("Unknown", "node.kubernetes.io/unreachable:NoExecute");
        assertThat(blame(Reviews.updated(NODE_CONTROLLER, tainted, tainted))).isEmpty();
        // The same key with another effect is another taint.
        assertThat(blame(Reviews.updated(
                        NODE_CONTROLLER,
                        node("Unknown", "node.kubernetes.io/unreachable:NoSchedule"),
                        node(
                                "Unknown",
                                "node.kubernetes.io/unreachable:NoSchedule",
                                "node.kubernetes.io/unreachable:NoExecute"))))
                .get()
                .extracting(Blame::text)
                .isEqualTo("adds the taint node.kubernetes.io/unreachable:NoExecute");
    }

    @Test
    void aDeletionOfAPodIsCheckedIfTaintEvictionMakesIt() {
        // A controller manager with one user for all controllers deletes pods for many reasons.
        assertThat(blame(Reviews.deleted(KCM, false))).isEmpty();
        assertThat(blame(Reviews.deleted(KCM, true)))
                .get()
                .extracting(Blame::node)
                .isEqualTo("n1");
        // The service account of the node controller deletes pods for no other reason.
        assertThat(blame(Reviews.deleted(NODE_CONTROLLER, false)))
                .get()
                .extracting(Blame::text)
                .isEqualTo("evicts the pod default/p1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "system:node:n1",
                "kubernetes-admin",
                "system:serviceaccount:kube-system:node-controller2",
                "system:serviceaccount:default:node-controller",
                "system:serviceaccount:kube-system:pod-garbage-collector",
                ""
            })
    void everyOtherUserPassesUntouched(String user) {
        assertThat(blame(Reviews.status(user, "True", "Unknown"))).isEmpty();
        assertThat(blame(Reviews.tainted(user, "True", "node.kubernetes.io/unreachable:NoExecute")))
                .isEmpty();
        assertThat(blame(Reviews.deleted(user, true))).isEmpty();
    }

    @Test
    void theUsersCanBeChosen() {
        Review review = Review.parse(Reviews.bytes(Reviews.status("own-ccm", "True", "Unknown")));
        assertThat(Blame.of(review, Set.of("own-ccm"))).isPresent();
    }

    @Test
    void aDryRunPasses() {
        String dry = Reviews.status(KCM, "True", "Unknown").replace("\"dryRun\":false", "\"dryRun\":true");
        assertThat(blame(dry)).isEmpty();
    }

    @Test
    void otherOperationsAndResourcesPass() {
        String status = Reviews.status(KCM, "True", "Unknown");
        assertThat(blame(status.replace("\"UPDATE\"", "\"CREATE\""))).isEmpty();
        assertThat(blame(status.replace("\"resource\":\"nodes\"", "\"resource\":\"leases\"")))
                .isEmpty();
        assertThat(blame(status.replace("\"resource\":{\"group\":\"\"", "\"resource\":{\"group\":\"example.com\"")))
                .isEmpty();
        assertThat(blame(Reviews.deleted(KCM, true).replace("\"nodeName\":\"n1\"", "\"nodeName\":\"\"")))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // The lease of n1 would be read, but this is the name of another node.
                "n1#1",
                "n1?x=1",
                "n1/status",
                "../leases/n1",
                "N1",
                "n1 ",
                ""
            })
    void aNameThatNoNodeCanHavePasses(String name) {
        String status = Reviews.status(KCM, "True", "Unknown");
        assertThat(blame(status.replace("\"name\":\"n1\"", "\"name\":\"" + name + "\"")))
                .isEmpty();
        String taint = Reviews.tainted(KCM, "True", "node.kubernetes.io/unreachable:NoExecute");
        assertThat(blame(taint.replace("\"name\":\"n1\"", "\"name\":\"" + name + "\"")))
                .isEmpty();
        assertThat(blame(Reviews.deleted(KCM, true).replace("\"nodeName\":\"n1\"", "\"nodeName\":\"" + name + "\"")))
                .isEmpty();
    }

    @Test
    void noPartOfAReviewThatIsTooLongIsKept() {
        String much = "x".repeat(1 << 20);
        String status = Reviews.status(KCM, "True", "Unknown");
        assertThat(blame(status.replace("\"name\":\"n1\"", "\"name\":\"" + "n".repeat(254) + "\"")))
                .isEmpty();
        assertThat(blame(status.replace("\"uid-1\"", "\"" + "u".repeat(129) + "\"")))
                .isEmpty();
        assertThat(blame(status.replace("\"uid-1\"", "\"" + "u".repeat(128) + "\"")))
                .isPresent();
        assertThat(blame(Reviews.status(KCM, much, "Unknown"))).isEmpty();
        assertThat(blame(Reviews.tainted(KCM, "True", "node.kubernetes.io/unreachable:" + much)))
                .isEmpty();
        String deleted = Reviews.deleted(KCM, true);
        assertThat(blame(deleted.replace("\"name\":\"p1\"", "\"name\":\"" + much + "\"")))
                .isEmpty();
        assertThat(blame(deleted.replace("\"namespace\":\"default\"", "\"namespace\":\"" + much + "\"")))
                .isEmpty();
    }

    @Test
    void aTaintThatIsListedManyTimesIsNamedOnce() {
        String[] taints = new String[1_000];
        Arrays.fill(taints, "node.kubernetes.io/unreachable:NoExecute");
        assertThat(blame(Reviews.updated(KCM, node("Unknown"), node("Unknown", taints))))
                .get()
                .extracting(Blame::text)
                .isEqualTo("adds the taint node.kubernetes.io/unreachable:NoExecute");
    }

    @ParameterizedTest
    @CsvSource({
        "node.kubernetes.io/unreachable:NoExecute, Unknown, ''",
        "node.kubernetes.io/unreachable:NoSchedule, Unknown, the node has no NoExecute taint for its silence",
        "node.kubernetes.io/not-ready:NoExecute, False, the node has no NoExecute taint for its silence",
        "example.com/maintenance:NoExecute, True, the node has no NoExecute taint for its silence"
    })
    void anEvictionNeedsTheTaintOfTheLiveNode(String taint, String ready, String cause) {
        Node node = new Node(Json.parseObject(Reviews.bytes(node(ready, taint))));
        assertThat(Blame.otherCause(node).orElse("")).isEqualTo(cause);
    }

    @Test
    void anEvictionThatAPersonsTaintAlsoCausesPasses() {
        Node node = new Node(Json.parseObject(Reviews.bytes(
                node("Unknown", "node.kubernetes.io/unreachable:NoExecute", "example.com/maintenance:NoExecute"))));
        assertThat(Blame.otherCause(node)).contains("the node also has the taint example.com/maintenance:NoExecute");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{}",
                "null",
                "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\"}",
                "{\"apiVersion\":\"admission.k8s.io/v1beta1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"1\"}}",
                "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":[]}"
            })
    void whatIsNoReviewIsRefusedAsMalformed(String body) {
        assertThatThrownBy(() -> Review.parse(Reviews.bytes(body))).isInstanceOf(RuntimeException.class);
    }

    @Test
    void fieldsOfWrongTypesBlameNothing() {
        assertThat(blame("""
                {"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"UPDATE",
                "resource":{"group":"","resource":"nodes"},"subResource":"status","userInfo":{"username":"%s"},
                "object":{"metadata":[],"status":{"conditions":{}}},"oldObject":7}}""".formatted(KCM))).isEmpty();
    }
}
