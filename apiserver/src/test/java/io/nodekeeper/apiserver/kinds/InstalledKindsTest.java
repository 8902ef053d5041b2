package io.nodekeeper.apiserver.kinds;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kinds of the manifests that install Nodekeeper: Deployments, NetworkPolicies, ValidatingWebhookConfigurations. */
class InstalledKindsTest {
    private static final String DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
    private static final String POLICIES = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
    private static final String WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    private static final String DEPLOYMENT = "{'metadata':{'name':'x'},'spec':{'selector':{'matchLabels':{'a':'b'}},"
            + "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}}}}";
    private static final String WEBHOOK =
            "{'metadata':{'name':'x'},'webhooks':[{'name':'a.b.c','admissionReviewVersions':['v1'],'sideEffects':'None',"
                    + "'clientConfig':{'service':{'namespace':'n','name':'s'}},'rules':[{'apiGroups':[''],"
                    + "'apiVersions':['v1'],'operations':['UPDATE'],'resources':['nodes']}]}]}";

    private final TestServer server = new TestServer();

    @Test
    void deploymentGetsKubernetesDefaults() {
        JsonObject spec = post(DEPLOYMENTS, DEPLOYMENT).json().object("spec");

        assertThat(spec.number("replicas")).contains(1L);
        assertThat(spec.number("revisionHistoryLimit")).contains(10L);
        assertThat(spec.number("progressDeadlineSeconds")).contains(600L);
        assertThat(spec.object("strategy"))
                .hasToString(
                        "{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxUnavailable\":\"25%\",\"maxSurge\":\"25%\"}}");
        assertThat(spec.object("template").object("spec").text("dnsPolicy")).isEqualTo("ClusterFirst");
    }

    @Test
    void selectorIsTheSameForAClientThatLeavesOutAnEmptyList() {
        String selector = "'selector':{'matchLabels':{'a':'b'}";
        post(DEPLOYMENTS, DEPLOYMENT.replace(selector, selector + ",'matchExpressions':[]"));

        Answer put = server.put(DEPLOYMENTS + "/x", DEPLOYMENT.replace('\'', '"'));

        assertThat(put.status()).as(put.text()).isEqualTo(200);
    }

    @Test
    void generationOfADeploymentCountsSpecsAndAnnotationsButNotStatuses() {
        assertThat(generation(post(DEPLOYMENTS, DEPLOYMENT))).isEqualTo(1);

        assertThat(generation(merge("/x/status", "{'status':{'replicas':3,'readyReplicas':2}}")))
                .isEqualTo(1);
        assertThat(generation(merge("/x", "{'metadata':{'labels':{'l':'1'}}}"))).isEqualTo(1);
        assertThat(generation(merge("/x", "{'metadata':{'annotations':{'l':'1'}}}")))
                .isEqualTo(2);
        assertThat(generation(merge("/x", "{'spec':{'replicas':3}}"))).isEqualTo(3);
        assertThat(server.ask(
                                TestServer.ADMIN,
                                "GET",
                                DEPLOYMENTS + "/x",
                                Map.of("accept", "application/json;as=Table;v=v1;g=meta.k8s.io"),
                                "")
                        .text())
                .contains("[\"x\",\"2/3\",0,0,\"0s\",\"c\",\"i\",\"a=b\"]");
    }

    @Test
    void networkPolicyIsAboutTheTrafficThatItHasRulesFor() {
        JsonObject incoming = post(POLICIES, "{'metadata':{'name':'in'},'spec':{'ingress':[{'ports':[{'port':80}]}]}}")
                .json()
                .object("spec");
        JsonObject both = post(POLICIES, "{'metadata':{'name':'both'},'spec':{'egress':[{}]}}")
                .json()
                .object("spec");

        assertThat(incoming)
                .hasToString("{\"ingress\":[{\"ports\":[{\"port\":80,\"protocol\":\"TCP\"}]}],\"podSelector\":{},"
                        + "\"policyTypes\":[\"Ingress\"]}");
        assertThat(both.array("policyTypes")).hasToString("[\"Ingress\",\"Egress\"]");
    }

    @Test
    void webhookConfigurationIsStoredWithDefaultsAndAWarningThatNothingIsCalled() {
        Answer created = post(WEBHOOKS, WEBHOOK);

        assertThat(created.headers())
                .containsEntry(
                        "warning",
                        "299 - \"this API server stores ValidatingWebhookConfigurations, but does not call their webhooks\"");
        JsonObject webhook =
                created.json().array("webhooks").objects().findFirst().orElseThrow();
        assertThat(webhook.text("failurePolicy")).isEqualTo("Fail");
        assertThat(webhook.text("matchPolicy")).isEqualTo("Equivalent");
        assertThat(webhook.number("timeoutSeconds")).contains(10L);
        assertThat(webhook.object("clientConfig").object("service").number("port"))
                .contains(443L);
        assertThat(webhook.array("rules").objects().findFirst().orElseThrow().text("scope"))
                .isEqualTo("*");
        assertThat(server.get("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/x")
                        .headers())
                .doesNotContainKey("warning");
    }

    @Test
    void protectionThatIsStoredButNotEnforcedIsAnsweredWithAWarning() {
        String namespaces = "/api/v1/namespaces";
        assertThat(post(
                                namespaces,
                                "{\"metadata\":{\"name\":\"shop\",\"labels\":{\"pod-security.kubernetes.io/enforce\":\"restricted\"}}}")
                        .headers())
                .containsEntry(
                        "warning",
                        "299 - \"this API server stores the label pod-security.kubernetes.io/enforce, but does not refuse pods by it\"");
        assertThat(post(
                                namespaces,
                                "{\"metadata\":{\"name\":\"open\",\"labels\":{\"pod-security.kubernetes.io/enforce\":\"privileged\"}}}")
                        .headers())
                .doesNotContainKey("warning");
        assertThat(post(
                                namespaces + "/shop/serviceaccounts",
                                "{\"metadata\":{\"name\":\"a\",\"annotations\":{\"kubernetes.io/enforce-mountable-secrets\":\"true\"}}}")
                        .headers())
                .containsEntry(
                        "warning",
                        "299 - \"this API server stores the annotation kubernetes.io/enforce-mountable-secrets, but does not limit"
                                + " secrets by it\"");
        assertThat(post(namespaces + "/shop/serviceaccounts", "{\"metadata\":{\"name\":\"b\"}}")
                        .headers())
                .doesNotContainKey("warning");
    }

    @Test
    void generationOfAWebhookConfigurationCountsItsWebhooks() {
        assertThat(generation(post(WEBHOOKS, WEBHOOK))).isEqualTo(1);

        assertThat(generation(server.patch(
                        TestServer.MERGE, WEBHOOKS + "/x", "{\"metadata\":{\"annotations\":{\"l\":\"1\"}}}")))
                .isEqualTo(1);
        // A strategic patch finds a webhook by its name.
        Answer changed = server.patch(
                TestServer.STRATEGIC, WEBHOOKS + "/x", "{\"webhooks\":[{\"name\":\"a.b.c\",\"timeoutSeconds\":1}]}");
        assertThat(generation(changed)).isEqualTo(2);
        assertThat(changed.json()
                        .array("webhooks")
                        .objects()
                        .findFirst()
                        .orElseThrow()
                        .text("sideEffects"))
                .isEqualTo("None");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "'replicas':-1 | spec.replicas: Invalid value: -1: must be greater than or equal to 0",
                "'minReadySeconds':600 | spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds",
                "'strategy':{'type':'X'} | spec.strategy: Unsupported value: ^X^: supported values: ^Recreate^, ^RollingUpdate^",
                "'strategy':{'type':'Recreate','rollingUpdate':{}} | spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
                "'strategy':{'rollingUpdate':{'maxUnavailable':'101%'}} | spec.strategy.rollingUpdate.maxUnavailable: Invalid value: ^101%^: must not be greater than 100%",
                "'strategy':{'rollingUpdate':{'maxUnavailable':0,'maxSurge':'0%'}} | spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"
            })
    void invalidDeploymentIsRefusedAsInKubernetes(String field, String error) {
        refused(DEPLOYMENTS, DEPLOYMENT.replace("'spec':{'selector'", "'spec':{" + field + ",'selector'"), error);
    }

    @Test
    void percentageOfMorePodsMayExceedAHundred() {
        assertThat(post(
                                DEPLOYMENTS,
                                DEPLOYMENT.replace(
                                        "'spec':{'selector'",
                                        "'spec':{'strategy':{'rollingUpdate':{'maxSurge':'200%'}},'selector'"))
                        .status())
                .isEqualTo(201);
    }

    @Test
    void selectorOfADeploymentMustMatchItsTemplateAndStays() {
        refused(
                DEPLOYMENTS,
                DEPLOYMENT.replace("'labels':{'a':'b'}", "'labels':{'a':'c'}"),
                "spec.template.metadata.labels: Invalid value: {^a^:^c^}: `selector` does not match template `labels`");
        post(DEPLOYMENTS, DEPLOYMENT);

        Answer changed = merge(
                "/x", "{'spec':{'selector':{'matchLabels':{'n':'1'}},'template':{'metadata':{'labels':{'n':'1'}}}}}");

        assertThat(changed.message()).contains("spec.selector: Invalid value:").endsWith("field is immutable");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "'ingress':[{'ports':[{'protocol':'X'}]}] | spec.ingress[0].ports[0].protocol: Unsupported value: ^X^: supported values: ^SCTP^, ^TCP^, ^UDP^",
                "'egress':[{'ports':[{'port':70000}]}] | spec.egress[0].ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
                "'ingress':[{'ports':[{'port':'web','endPort':90}]}] | spec.ingress[0].ports[0].endPort: Invalid value: 90: may not be specified when `port` is non-numeric or not specified",
                "'ingress':[{'ports':[{'port':91,'endPort':90}]}] | spec.ingress[0].ports[0].endPort: Invalid value: 90: must be greater than or equal to `port`",
                "'egress':[{'to':[{}]}] | spec.egress[0].to[0]: Required value: must specify a peer",
                "'ingress':[{'from':[{'ipBlock':{'cidr':'10.0.0.0'}}]}] | spec.ingress[0].from[0].ipBlock.cidr: Invalid value: ^10.0.0.0^: must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
                "'ingress':[{'from':[{'podSelector':{},'ipBlock':{'cidr':'10.0.0.0/8'}}]}] | spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer",
                "'policyTypes':['X'] | spec.policyTypes[0]: Unsupported value: ^X^: supported values: ^Egress^, ^Ingress^"
            })
    void invalidNetworkPolicyIsRefusedAsInKubernetes(String field, String error) {
        refused(POLICIES, "{'metadata':{'name':'x'},'spec':{" + field + "}}", error);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "'a.b.c' | 'b.c' | webhooks[0].name: Invalid value: ^b.c^: should be a domain with at least three segments separated by dots",
                "'v1' | 'v9' | webhooks[0].admissionReviewVersions: Invalid value: [^v9^]: must include at least one of v1, v1beta1",
                "'None' | 'Some' | webhooks[0].sideEffects: Unsupported value: ^Some^: supported values: ^None^, ^NoneOnDryRun^",
                "'service':{'namespace':'n','name':'s'} | 'url':'http://h' | webhooks[0].clientConfig.url: Invalid value: ^http://h^: 'https' is the only allowed URL scheme; desired format: https://host[/path]",
                "'service':{'namespace':'n','name':'s'} | | webhooks[0].clientConfig: Required value: exactly one of url or service is required",
                "'UPDATE' | 'X' | webhooks[0].rules[0].operations[0]: Unsupported value: ^X^: supported values: ^*^, ^CONNECT^, ^CREATE^, ^DELETE^, ^UPDATE^",
                "'nodes' | | webhooks[0].rules[0].resources: Required value",
                "'sideEffects' | 'timeoutSeconds':31,'sideEffects' | webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"
            })
    void invalidWebhookIsRefusedAsInKubernetes(String part, @Nullable String other, String error) {
        refused(WEBHOOKS, WEBHOOK.replace(part, other == null ? "" : other), error);
    }

    private Answer post(String path, String object) {
        return server.post(path, object.replace('\'', '"'));
    }

    private Answer merge(String path, String patch) {
        return server.patch(TestServer.MERGE, DEPLOYMENTS + path, patch.replace('\'', '"'));
    }

    private static long generation(Answer answer) {
        assertThat(answer.status()).as(answer.text()).isLessThan(300);
        return answer.json().object("metadata").number("generation").orElseThrow();
    }

    private void refused(String path, String object, String error) {
        Answer answer = post(path, object);

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.message()).endsWith(" is invalid: " + error.replace("^", "\""));
    }
}
