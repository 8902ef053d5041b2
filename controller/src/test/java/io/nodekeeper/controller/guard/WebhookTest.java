package io.nodekeeper.controller.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ValidatingWebhookConfiguration. */
class WebhookTest {
    private static final Webhook.Target SERVICE = new Webhook.Target.Service("kube-system", "nodekeeper-guard", 443);

    @Test
    void itAsksOnlyForWritesOfTheNodeControllerAndNeverFailsThem() {
        JsonObject expected = Json.parseObject(Reviews.bytes("""
                {"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
                "metadata":{"name":"nodekeeper-guard"},"webhooks":[{"name":"guard.nodekeeper.io",
                "admissionReviewVersions":["v1"],
                "clientConfig":{"service":{"namespace":"kube-system","name":"nodekeeper-guard","port":443,
                "path":"/validate"}},
                "failurePolicy":"Ignore","matchPolicy":"Equivalent","sideEffects":"NoneOnDryRun","timeoutSeconds":1,
                "rules":[
                {"apiGroups":[""],"apiVersions":["v1"],"operations":["UPDATE"],"resources":["nodes","nodes/status"]},
                {"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["pods"]}],
                "matchConditions":[{"name":"written-by-the-node-controller","expression":
                "request.userInfo.username in ['system:kube-controller-manager', 'system:serviceaccount:kube-system:node-controller']"}]}]}
                """));
        assertThat(Webhook.of(SERVICE, Blame.USERS, true).json()).isEqualTo(expected);
        assertThat(Webhook.of(SERVICE, Blame.USERS, false)
                        .json()
                        .array("webhooks")
                        .objects()
                        .findFirst()
                        .orElseThrow()
                        .has("matchConditions"))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "https://10.0.0.7:9443, 10.0.0.7",
        "https://[fd00::7]:9443, fd00::7",
        "https://guard.example:1, guard.example"
    })
    void theCertificateIsForTheAddressThatTheApiServerUses(URI url, String name) {
        assertThat(Webhook.of(new Webhook.Target.Address(url), Blame.USERS, true)
                        .serverNames())
                .containsExactly(name);
        assertThat(Webhook.of(SERVICE, Blame.USERS, true).serverNames())
                .containsExactly("nodekeeper-guard.kube-system.svc");
    }

    @Test
    void anUpdateKeepsTheCertificatesTheSwitchAndTheVersion() {
        // given a stored object that is switched off
        JsonObject metadata = JsonObject.EMPTY
                .with("name", "nodekeeper-guard")
                .with("resourceVersion", "7")
                .with("annotations", JsonObject.EMPTY.with("nodekeeper.io/guard", "off"));
        Webhook stored = new Webhook(Webhook.of(SERVICE, Blame.USERS, true)
                .withCaBundle("Zm9v")
                .json()
                .with("metadata", metadata));
        assertThat(stored.off())
                .contains("the annotation nodekeeper.io/guard of the ValidatingWebhookConfiguration is off");
        // when it is applied again with another address
        Webhook applied = Webhook.of(new Webhook.Target.Address(URI.create("https://10.0.0.7:9443")), Blame.USERS, true)
                .over(stored);
        // then
        assertThat(applied.caBundle()).isEqualTo("Zm9v");
        assertThat(applied.json().object("metadata")).isEqualTo(metadata);
        assertThat(applied.serverNames()).containsExactly("10.0.0.7");
    }

    @Test
    void withoutAConfigurationTheGuardIsOff() {
        assertThat(new Webhook(JsonObject.EMPTY).off())
                .contains("there is no ValidatingWebhookConfiguration nodekeeper-guard");
        assertThat(Webhook.of(SERVICE, Blame.USERS, true).off()).isEmpty();
    }

    @Test
    void theGuardMayReadAndKeepItsOwnConfigurationAndWriteNothingElse() {
        JsonObject role = GuardRights.of("kube-system", "nodekeeper-guard").getFirst();
        List<String> rights = role.array("rules")
                .objects()
                .map(rule -> rule.array("verbs").strings().toList() + " "
                        + rule.array("resources").strings().toList() + " "
                        + rule.array("resourceNames").strings().toList())
                .toList();
        assertThat(rights)
                .containsExactly(
                        "[get, list, watch] [nodes, pods] []",
                        "[get, list, watch] [leases] []",
                        "[get, list, create, patch] [events] []",
                        "[get, update] [validatingwebhookconfigurations] [nodekeeper-guard]");
    }
}
