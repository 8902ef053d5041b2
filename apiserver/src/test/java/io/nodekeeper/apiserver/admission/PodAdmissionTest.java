package io.nodekeeper.apiserver.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Kubernetes' admission plugins Priority and RuntimeClass. */
class PodAdmissionTest {
    private static final String PODS = "/api/v1/namespaces/default/pods";
    private static final String PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses";
    private static final String RUNTIMES = "/apis/node.k8s.io/v1/runtimeclasses";
    private static final String CONTAINER = "'containers':[{'name':'c','image':'i'}]";

    private final TestServer server = TestServer.withRoles();

    private Answer pod(String spec) {
        return post(PODS, "{'metadata':{'name':'p'},'spec':{" + CONTAINER + (spec.isEmpty() ? "" : "," + spec) + "}}");
    }

    private Answer post(String uri, String body) {
        return server.post(uri, body.replace('\'', '"'));
    }

    private JsonObject created(String spec) {
        Answer answer = pod(spec);
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().object("spec");
    }

    private void priority(String name, String fields) {
        Answer answer = post(PRIORITIES, "{'metadata':{'name':'" + name + "'}," + fields + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    }

    private void runtime(String name, String fields) {
        Answer answer = post(RUNTIMES, "{'metadata':{'name':'" + name + "'},'handler':'h'" + fields + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    }

    @Test
    void serverCreatesTheTwoSystemPriorityClasses() {
        assertThat(server.get(PRIORITIES).names()).containsExactly("system-cluster-critical", "system-node-critical");
        JsonObject node = server.get(PRIORITIES + "/system-node-critical").json();
        assertThat(node.number("value")).contains(2_000_001_000L);
        assertThat(node.text("preemptionPolicy")).isEqualTo("PreemptLowerPriority");
    }

    @Test
    void podGetsPriorityAndPreemptionPolicyOfItsClass() {
        priority("high", "'value':1000,'preemptionPolicy':'Never'");
        JsonObject spec = created("'priorityClassName':'high'");
        assertThat(spec.number("priority")).contains(1_000L);
        assertThat(spec.text("preemptionPolicy")).isEqualTo("Never");
    }

    @Test
    void podWithoutAClassGetsTheLowestGlobalDefault() {
        // given no default class
        assertThat(created("").number("priority")).contains(0L);
        server.delete(PODS + "/p", "");
        // when there are two, which two concurrent creations can leave behind
        priority("normal", "'value':7,'globalDefault':true");
        JsonObject spec = created("");
        // then the pod has the name of the lower one
        assertThat(spec.number("priority")).contains(7L);
        assertThat(spec.text("priorityClassName")).isEqualTo("normal");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'priorityClassName':'none' | no PriorityClass with name none was found",
                "'priority':5 | the integer value of priority (5) must not be provided in pod spec; priority admission controller"
                        + " computed 0 from the given PriorityClass name",
                "'priorityClassName':'system-node-critical','priority':5 | the integer value of priority (5) must not be provided"
                        + " in pod spec; priority admission controller computed 2000001000 from the given PriorityClass name",
                "'preemptionPolicy':'Never' | the string value of PreemptionPolicy (Never) must not be provided in pod spec;"
                        + " priority admission controller computed PreemptLowerPriority from the given PriorityClass name",
                "'runtimeClassName':'none' | pod rejected: RuntimeClass \"none\" not found",
                "'overhead':{'cpu':'1'} | pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
                "'runtimeClassName':'heavy','overhead':{'cpu':'1'} | pod rejected: Pod's Overhead doesn't match RuntimeClass's"
                        + " defined Overhead",
                "'runtimeClassName':'heavy','nodeSelector':{'zone':'b'} | conflict:"
                        + " runtimeClass.scheduling.nodeSelector[zone] = a; pod.spec.nodeSelector[zone] = b",
            },
            quoteCharacter = '`')
    void podThatContradictsItsClassIsForbidden(String spec, String why) {
        runtime("heavy", ",'overhead':{'podFixed':{'cpu':'250m'}},'scheduling':{'nodeSelector':{'zone':'a'}}");
        Answer answer = pod(spec);
        assertThat(answer.status()).as(answer.text()).isEqualTo(403);
        assertThat(answer.reason()).isEqualTo("Forbidden");
        assertThat(answer.message()).isEqualTo("pods \"p\" is forbidden: " + why);
    }

    @Test
    void podMayRepeatTheValuesOfItsClass() {
        runtime("heavy", ",'overhead':{'podFixed':{'cpu':'250m'}}");
        JsonObject spec = created(
                "'priorityClassName':'system-node-critical','priority':2000001000,'runtimeClassName':'heavy','overhead':{'cpu':'0.25'}");
        assertThat(spec.object("overhead").text("cpu")).isEqualTo("250m");
    }

    @Test
    void podGetsOverheadAndSchedulingOfItsRuntimeClass() {
        runtime(
                "heavy",
                ",'overhead':{'podFixed':{'cpu':'250m','memory':'1024Mi'}},'scheduling':{'nodeSelector':{'zone':'a'},'tolerations':[{'key':'own','operator':'Exists'},{'key':'heavy','operator':'Exists'}]}");
        JsonObject spec = created(
                "'runtimeClassName':'heavy','nodeSelector':{'disk':'ssd'},'tolerations':[{'key':'own','operator':'Exists'}]");
        assertThat(spec.object("overhead")).hasToString("{\"cpu\":\"250m\",\"memory\":\"1Gi\"}");
        assertThat(spec.object("nodeSelector")).hasToString("{\"disk\":\"ssd\",\"zone\":\"a\"}");
        assertThat(spec.array("tolerations").objects().map(one -> one.text("key")))
                .containsExactly("own", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "heavy");
    }

    @Test
    void updateWithoutThePriorityKeepsIt() {
        priority("high", "'value':1000,'preemptionPolicy':'Never'");
        pod("'priorityClassName':'high'");
        JsonObject without = server.get(PODS + "/p")
                .json()
                .update("spec", spec -> spec.without("priority").without("preemptionPolicy"));
        Answer updated = server.put(PODS + "/p", without.toString());
        assertThat(updated.status()).as(updated.text()).isEqualTo(200);
        assertThat(updated.json().object("spec").number("priority")).contains(1_000L);
        assertThat(updated.json().object("spec").text("preemptionPolicy")).isEqualTo("Never");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "big | 'value':1000000001 | value: Invalid value: 1000000001: maximum allowed value of a user defined priority is"
                        + " 1000000000",
                "system-own | 'value':1 | metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for"
                        + " system use only. error: priority class name is reserved for system use: system-own",
                "odd | 'value':1,'preemptionPolicy':'Always' | preemptionPolicy: Unsupported value: \"Always\": supported values:"
                        + " \"PreemptLowerPriority\", \"Never\"",
            },
            quoteCharacter = '`')
    void priorityClassIsValidated(String name, String fields, String why) {
        Answer answer = post(PRIORITIES, "{'metadata':{'name':'" + name + "'}," + fields + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.message()).endsWith(why);
    }

    @Test
    void onlyOneDefaultClassIsAllowedAndValuesAreImmutable() {
        priority("one", "'value':1,'globalDefault':true");
        Answer second = post(PRIORITIES, "{'metadata':{'name':'two'},'value':2,'globalDefault':true}");
        assertThat(second.status()).isEqualTo(403);
        assertThat(second.message())
                .isEqualTo("priorityclasses.scheduling.k8s.io \"two\" is forbidden: PriorityClass one is already marked"
                        + " as default. Only one default can exist");
        Answer changed = server.patch(TestServer.MERGE, PRIORITIES + "/one", "{\"value\":3}");
        assertThat(changed.status()).isEqualTo(422);
        assertThat(changed.message()).endsWith("value: Forbidden: may not be changed in an update.");
        Answer policy = server.patch(TestServer.MERGE, PRIORITIES + "/one", "{\"preemptionPolicy\":\"Never\"}");
        assertThat(policy.message()).endsWith("preemptionPolicy: Invalid value: \"Never\": field is immutable");
        assertThat(server.patch(TestServer.MERGE, PRIORITIES + "/one", "{\"description\":\"d\"}")
                        .status())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'overhead':{'podFixed':{'cpu':'-1'}} | overhead.podFixed[cpu]: Invalid value: \"-1\": must be greater than or"
                        + " equal to 0",
                "'overhead':{'podFixed':{'gold':'1'}} | overhead.podFixed[gold]: Invalid value: \"gold\": must be a standard"
                        + " resource for containers",
                "'scheduling':{'tolerations':[{'key':'a','operator':'Some'}]} | scheduling.tolerations[0].operator: Unsupported"
                        + " value: \"Some\": supported values: \"Equal\", \"Exists\"",
                "'scheduling':{'tolerations':[{'key':'a','operator':'Exists'},{'key':'a','operator':'Exists'}]} |"
                        + " scheduling.tolerations[1]: Duplicate value: {\"key\":\"a\",\"operator\":\"Exists\"}",
            },
            quoteCharacter = '`')
    void runtimeClassIsValidated(String fields, String why) {
        Answer answer = post(RUNTIMES, "{'metadata':{'name':'r'},'handler':'h'," + fields + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.message()).endsWith(why);
    }
}
