package io.nodekeeper.apiserver.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The defaults of pods, compared with kube-apiserver 1.32. */
class PodDefaultsTest {
    private static final String PODS = "/api/v1/namespaces/default/pods";
    private static final String ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";

    private final TestServer server = new TestServer(TestServer.serviceAccountAuthenticator());

    private JsonObject created(String spec) {
        Answer answer = server.post(PODS, "{\"metadata\":{\"name\":\"p\"},\"spec\":" + spec.replace('\'', '"') + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    private static JsonObject json(String text) {
        return Json.parseObject(text.replace('\'', '"'));
    }

    @Test
    void minimalPodGetsKubernetesDefaults() {
        server.post(ACCOUNTS, "{\"metadata\":{\"name\":\"default\"},\"imagePullSecrets\":[{\"name\":\"pull\"}]}");

        JsonObject pod = created("{'containers':[{'name':'c','image':'nginx'}]}");

        String volume = pod.object("spec")
                .array("volumes")
                .objects()
                .findFirst()
                .orElseThrow()
                .text("name");
        assertThat(volume).matches("kube-api-access-[a-z0-9]{5}");
        assertThat(pod.object("spec")).isEqualTo(json("""
                {'volumes':[{'name':'VOLUME','projected':{'defaultMode':420,'sources':[
                    {'serviceAccountToken':{'expirationSeconds':3607,'path':'token'}},
                    {'configMap':{'name':'kube-root-ca.crt','items':[{'key':'ca.crt','path':'ca.crt'}]}},
                    {'downwardAPI':{'items':[{'path':'namespace',
                        'fieldRef':{'apiVersion':'v1','fieldPath':'metadata.namespace'}}]}}]}}],
                 'containers':[{'name':'c','image':'nginx','resources':{},
                    'volumeMounts':[{'name':'VOLUME','readOnly':true,
                        'mountPath':'/var/run/secrets/kubernetes.io/serviceaccount'}],
                    'terminationMessagePath':'/dev/termination-log','terminationMessagePolicy':'File',
                    'imagePullPolicy':'Always'}],
                 'restartPolicy':'Always','terminationGracePeriodSeconds':30,'dnsPolicy':'ClusterFirst',
                 'serviceAccountName':'default','serviceAccount':'default','securityContext':{},
                 'imagePullSecrets':[{'name':'pull'}],
                 'schedulerName':'default-scheduler','enableServiceLinks':true,'priority':0,
                 'preemptionPolicy':'PreemptLowerPriority',
                 'tolerations':[
                    {'key':'node.kubernetes.io/not-ready','operator':'Exists','effect':'NoExecute',
                     'tolerationSeconds':300},
                    {'key':'node.kubernetes.io/unreachable','operator':'Exists','effect':'NoExecute',
                     'tolerationSeconds':300}]}""".replace("VOLUME", volume)));
        assertThat(pod.object("status")).isEqualTo(json("{'phase':'Pending','qosClass':'BestEffort'}"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                // The annotation, the profile of the container and of the pod; then the resulting annotation and
                // profile.
                " | {'type':'RuntimeDefault'} | {} | runtime/default | {'type':'RuntimeDefault'}",
                " | {'type':'Localhost','localhostProfile':'a'} | {} | localhost/a | {'type':'Localhost','localhostProfile':'a'}",
                " | {} | {'type':'Unconfined'} | unconfined | {}",
                "localhost/a | {} | {} | localhost/a | {'type':'Localhost','localhostProfile':'a'}",
                "unconfined | {} | {'type':'RuntimeDefault'} | unconfined | {'type':'Unconfined'}",
                "runtime/default | {} | {'type':'RuntimeDefault'} | runtime/default | {}",
                " | {} | {} | | {}",
            })
    void anAppArmorProfileIsSaidInBothForms(
            String annotation, String own, String shared, String expected, String profile) {
        String key = "container.apparmor.security.beta.kubernetes.io/c";
        String body = "{'metadata':{'name':'p'"
                + (annotation == null ? "" : ",'annotations':{'" + key + "':'" + annotation + "'}")
                + "},'spec':{'securityContext':{" + (shared.equals("{}") ? "" : "'appArmorProfile':" + shared)
                + "},'containers':[{'name':'c','image':'i'"
                + (own.equals("{}") ? "" : ",'securityContext':{'appArmorProfile':" + own + "}") + "}]}}";

        JsonObject pod = server.post(PODS, body.replace('\'', '"')).json();

        assertThat(pod.object("metadata").object("annotations").text(key)).isEqualTo(expected == null ? "" : expected);
        assertThat(container(pod).object("securityContext").object("appArmorProfile"))
                .isEqualTo(json(profile));
    }

    @Test
    void podLevelResourcesAreDropped() {
        JsonObject pod = created("{'resources':{'limits':{'cpu':'1'}},'containers':[{'name':'c','image':'i'}]}");

        assertThat(pod.object("spec").has("resources")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{'name':'v'} | {'name':'v','emptyDir':{}}",
                "{'name':'v','secret':{'secretName':'s'}} | {'name':'v','secret':{'secretName':'s','defaultMode':420}}",
                "{'name':'v','secret':{'secretName':'s','defaultMode':0}} | {'name':'v','secret':{'secretName':'s','defaultMode':0}}",
                "{'name':'v','configMap':{'name':'m'}} | {'name':'v','configMap':{'name':'m','defaultMode':420}}",
                "{'name':'v','hostPath':{'path':'/p'}} | {'name':'v','hostPath':{'path':'/p','type':''}}",
                "{'name':'v','downwardAPI':{'items':[{'path':'n','fieldRef':{'fieldPath':'metadata.name'}}]}} | {'name':'v','downwardAPI':{'defaultMode':420,'items':[{'path':'n','fieldRef':{'apiVersion':'v1','fieldPath':'metadata.name'}}]}}",
                "{'name':'v','projected':{'sources':[{'serviceAccountToken':{'path':'t'}}]}} | {'name':'v','projected':{'defaultMode':420,'sources':[{'serviceAccountToken':{'path':'t','expirationSeconds':3600}}]}}",
                "{'name':'v','image':{'reference':'a:1'}} | {'name':'v','image':{'reference':'a:1','pullPolicy':'IfNotPresent'}}",
                "{'name':'v','ephemeral':{'volumeClaimTemplate':{'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}}} | {'name':'v','ephemeral':{'volumeClaimTemplate':{'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}},'volumeMode':'Filesystem'}}}}",
                "{'name':'v','rbd':{'monitors':['m'],'image':'i'}} | {'name':'v','rbd':{'monitors':['m'],'image':'i','pool':'rbd','user':'admin','keyring':'/etc/ceph/keyring'}}",
                "{'name':'v','azureDisk':{'diskName':'d','diskURI':'u'}} | {'name':'v','azureDisk':{'diskName':'d','diskURI':'u','cachingMode':'ReadWrite','fsType':'ext4','kind':'Shared','readOnly':false}}"
            })
    void volumeGetsDefaults(String given, String stored) {
        JsonObject pod = created("{'volumes':[" + given + "],'containers':[{'name':'c','image':'i'}]}");

        assertThat(pod.object("spec").array("volumes").items()).containsExactly(json(stored));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "'livenessProbe':{'exec':{'command':['c']}} | {'exec':{'command':['c']},'timeoutSeconds':1,'periodSeconds':10,'successThreshold':1,'failureThreshold':3}",
                "'readinessProbe':{'httpGet':{'port':80},'periodSeconds':5} | {'httpGet':{'port':80,'path':'/','scheme':'HTTP'},'periodSeconds':5,'timeoutSeconds':1,'successThreshold':1,'failureThreshold':3}",
                "'startupProbe':{'grpc':{'port':80}} | {'grpc':{'port':80,'service':''},'timeoutSeconds':1,'periodSeconds':10,'successThreshold':1,'failureThreshold':3}",
                "'lifecycle':{'preStop':{'httpGet':{'port':'web','path':'/x'}}} | {'preStop':{'httpGet':{'port':'web','path':'/x','scheme':'HTTP'}}}",
                "'resources':{'limits':{'cpu':'1','memory':'2Gi'},'requests':{'cpu':'100m'}} | {'limits':{'cpu':'1','memory':'2Gi'},'requests':{'cpu':'100m','memory':'2Gi'}}"
            })
    void containerGetsDefaults(String given, String stored) {
        JsonObject pod = created("{'containers':[{'name':'c','image':'i'," + given + "}]}");

        String field = given.substring(1, given.indexOf('\'', 1));
        assertThat(container(pod).object(field)).isEqualTo(json(stored));
    }

    private static JsonObject container(JsonObject pod) {
        return pod.object("spec").array("containers").objects().findFirst().orElseThrow();
    }

    @Test
    void portsVariablesAndReferencesGetDefaults() {
        JsonObject pod = created("{'hostNetwork':true,'containers':[{'name':'c','image':'i',"
                + "'ports':[{'containerPort':80},{'containerPort':81,'protocol':'UDP'}],'env':["
                + "{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'status.podIP'}}},"
                + "{'name':'B','valueFrom':{'resourceFieldRef':{'resource':'limits.cpu'}}}]}]}");

        assertThat(container(pod).array("ports"))
                .hasToString("[{\"containerPort\":80,\"protocol\":\"TCP\",\"hostPort\":80},"
                        + "{\"containerPort\":81,\"protocol\":\"UDP\",\"hostPort\":81}]");
        assertThat(container(pod).array("env"))
                .hasToString(
                        "[{\"name\":\"A\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"status.podIP\",\"apiVersion\":\"v1\"}}},"
                                + "{\"name\":\"B\",\"valueFrom\":{\"resourceFieldRef\":{\"resource\":\"limits.cpu\",\"divisor\":\"0\"}}}]");
    }

    @ParameterizedTest
    @CsvSource({
        "nginx, Always",
        "nginx:latest, Always",
        "nginx:1.27, IfNotPresent",
        "localhost:5000/nginx, Always",
        "localhost:5000/nginx:1, IfNotPresent",
        "nginx@sha256:aaaa, IfNotPresent",
        "nginx:latest@sha256:aaaa, Always"
    })
    void imageWithTheTagLatestIsAlwaysPulled(String image, String policy) {
        JsonObject pod = created("{'containers':[{'name':'c','image':'" + image + "'}]}");

        assertThat(container(pod).text("imagePullPolicy")).isEqualTo(policy);
    }

    @Test
    void systemPriorityClassesHaveTheirValues() {
        JsonObject pod =
                created("{'priorityClassName':'system-node-critical','containers':[{'name':'c','image':'i'}]}");

        assertThat(pod.object("spec").number("priority")).contains(2_000_001_000L);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                // The service account, the pod's spec, whether it gets a token volume, and its service account name.
                "'automountServiceAccountToken':false | 'serviceAccountName':'a' | false | a",
                "'automountServiceAccountToken':false | 'serviceAccountName':'a','automountServiceAccountToken':true | true | a",
                "'secrets':[] | 'serviceAccount':'a' | true | a",
                "'secrets':[] | 'serviceAccountName':'a','automountServiceAccountToken':false | false | a",
                "'secrets':[] | 'serviceAccountName':'absent' | false | absent"
            })
    void theTokenIsMountedIfTheAccountIsThereAndThePodWantsIt(
            String account, String spec, boolean mounted, String name) {
        server.post(ACCOUNTS, ("{'metadata':{'name':'a'}," + account + "}").replace('\'', '"'));

        JsonObject pod = created("{" + spec + ",'containers':[{'name':'c','image':'i'}]}");

        assertThat(pod.object("spec").text("serviceAccountName")).isEqualTo(name);
        assertThat(pod.object("spec").text("serviceAccount")).isEqualTo(name);
        assertThat(pod.object("spec").array("volumes").isEmpty()).isEqualTo(!mounted);
        assertThat(container(pod).array("volumeMounts").isEmpty()).isEqualTo(!mounted);
    }

    @Test
    void keysOfLabelsAreMergedIntoTheSelectorsOfAffinity() {
        server.post(ACCOUNTS, "{\"metadata\":{\"name\":\"default\"}}");
        String term = "{'topologyKey':'z','labelSelector':{'matchLabels':{'app':'x'}},'matchLabelKeys':['v','none'],"
                + "'mismatchLabelKeys':['t']}";
        Answer answer = server.post(
                PODS,
                ("{'metadata':{'name':'p','labels':{'v':'1','t':'2'}},'spec':{'affinity':{"
                                + "'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" + term + "]},"
                                + "'podAntiAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,"
                                + "'podAffinityTerm':" + term + "}]}},'containers':[{'name':'c','image':'i'}]}}")
                        .replace('\'', '"'));

        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        JsonObject affinity = answer.json().object("spec").object("affinity");
        JsonObject merged = json("{'matchLabels':{'app':'x'},'matchExpressions':["
                + "{'key':'v','operator':'In','values':['1']},{'key':'t','operator':'NotIn','values':['2']}]}");
        assertThat(affinity.object("podAffinity")
                        .array("requiredDuringSchedulingIgnoredDuringExecution")
                        .objects()
                        .map(one -> one.object("labelSelector")))
                .containsExactly(merged);
        assertThat(affinity.object("podAntiAffinity")
                        .array("preferredDuringSchedulingIgnoredDuringExecution")
                        .objects()
                        .map(one -> one.object("podAffinityTerm").object("labelSelector")))
                .containsExactly(merged);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "'matchLabelKeys':['v'],'mismatchLabelKeys':['v'] | exists in both matchLabelKeys and mismatchLabelKeys",
                "'matchLabelKeys':['v','v'] | exists in both matchLabelKeys and labelSelector",
                "'matchLabelKeys':['app'] | exists in both matchLabelKeys and labelSelector"
            })
    void keyOfALabelToMatchStandsNowhereElse(String keys, String refusal) {
        assertThat(affinity(keys)).contains(refusal);
    }

    @Test
    void keysOfLabelsOfAPodAreLimited() {
        String many = IntStream.range(0, 1_001).mapToObj(i -> "'k" + i + "'").collect(Collectors.joining(","));

        assertThat(affinity("'matchLabelKeys':[" + many + "]"))
                .contains("its terms have 1001 matchLabelKeys and mismatchLabelKeys; expected at most 1000");
    }

    /** The refusal of a pod with these keys in its affinity. */
    private String affinity(String keys) {
        server.post(ACCOUNTS, "{\"metadata\":{\"name\":\"default\"}}");
        Answer answer = server.post(
                PODS,
                ("{'metadata':{'name':'p','labels':{'v':'1','app':'x'}},'spec':{'affinity':{'podAntiAffinity':{"
                                + "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'z',"
                                + "'labelSelector':{'matchLabels':{'app':'x'}}," + keys
                                + "}]}},'containers':[{'name':'c','image':'i'}]}}")
                        .replace('\'', '"'));
        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        return answer.message();
    }

    @Test
    void mirrorPodGetsNoServiceAccount() {
        server.post(ACCOUNTS, "{\"metadata\":{\"name\":\"default\"}}");
        Answer answer = server.post(
                PODS,
                "{\"metadata\":{\"name\":\"m\",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"}},\"spec\":"
                        + "{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");

        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        assertThat(answer.json().object("spec").has("serviceAccountName")).isFalse();
        assertThat(answer.json().object("spec").array("volumes").items()).isEmpty();
    }

    @Test
    void podCreatedByApplyGetsItsServiceAccount() {
        server.post(ACCOUNTS, "{\"metadata\":{\"name\":\"default\"}}");
        String body = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":"
                + "[{\"name\":\"c\",\"image\":\"i\"}]}}";

        Answer made = server.patch(Yaml.APPLY_MEDIA_TYPE, PODS + "/p?fieldManager=m", body);
        Answer again = server.patch(Yaml.APPLY_MEDIA_TYPE, PODS + "/p?fieldManager=m", body);

        assertThat(made.status()).as(made.text()).isEqualTo(201);
        assertThat(made.json().object("spec").array("volumes").items()).hasSize(1);
        assertThat(again.status()).as(again.text()).isEqualTo(200);
        assertThat(again.version()).isEqualTo(made.version());
    }

    @Test
    void templateGetsOnlyTheDefaultsOfTemplates() {
        Answer answer = server.post(
                "/apis/apps/v1/namespaces/default/daemonsets",
                ("{'metadata':{'name':'d'},'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':"
                                + "{'a':'b'}},'spec':{'hostNetwork':true,'containers':[{'name':'c','image':'i:1',"
                                + "'ports':[{'containerPort':80}],'resources':{'limits':{'cpu':'1'}}}]}}}}")
                        .replace('\'', '"'));

        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        assertThat(answer.json().object("spec").object("template").object("spec"))
                .isEqualTo(json("""
                {'hostNetwork':true,'restartPolicy':'Always','terminationGracePeriodSeconds':30,
                 'dnsPolicy':'ClusterFirst','securityContext':{},'schedulerName':'default-scheduler',
                 'containers':[{'name':'c','image':'i:1','ports':[{'containerPort':80,'protocol':'TCP'}],
                    'resources':{'limits':{'cpu':'1'}},'terminationMessagePath':'/dev/termination-log',
                    'terminationMessagePolicy':'File','imagePullPolicy':'IfNotPresent'}]}"""));
        assertThat(answer.json().object("spec").object("updateStrategy"))
                .isEqualTo(json("{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':1,'maxSurge':0}}"));
    }
}
