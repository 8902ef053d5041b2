package io.nodekeeper.apiserver.kinds.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What of volumes, claims, their classes and the drivers of nodes may change, and what may not. */
class StorageUpdatesTest {
    private static final String CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";
    private static final String VOLUMES = "/api/v1/persistentvolumes";
    private static final String CLASSES = "/apis/storage.k8s.io/v1/storageclasses";
    private static final String CSI_NODES = "/apis/storage.k8s.io/v1/csinodes";
    private static final String IMMUTABLE = "PersistentVolumeClaim \"c\" is invalid: spec: Forbidden: spec is immutable"
            + " after creation except resources.requests and volumeAttributesClassName for bound claims";

    private final TestServer server = new TestServer();

    /** Of the class "fast". */
    private void claimThatMayGrow() {
        create(CLASSES, "{'metadata':{'name':'fast'},'provisioner':'p','allowVolumeExpansion':true}");
        claim("'storageClassName':'fast',");
    }

    @Test
    void onlyABoundClaimGrows() {
        claimThatMayGrow();
        assertThat(refusal(CLAIMS + "/c", size("2Gi"))).isEqualTo(IMMUTABLE);

        bound();

        change(CLAIMS + "/c", size("2Gi"));
        assertThat(refusal(CLAIMS + "/c", "{'spec':{'resources':{'requests':{'cpu':'1'}}}}"))
                .isEqualTo(IMMUTABLE);
        assertThat(refusal(CLAIMS + "/c", "{'spec':{'resources':{'limits':{'storage':'9Gi'}}}}"))
                .isEqualTo(IMMUTABLE);
    }

    @Test
    void claimWhoseExpansionFailedMayAskForLessButNotForLessThanItHas() {
        claimThatMayGrow();
        bound();
        change(CLAIMS + "/c", size("100Gi"));

        change(CLAIMS + "/c", size("2Gi"));

        for (String shrunk : new String[] {"1Gi", "1Mi"}) {
            assertThat(refusal(CLAIMS + "/c", size(shrunk)))
                    .isEqualTo(
                            "PersistentVolumeClaim \"c\" is invalid: spec.resources.requests.storage: Forbidden: field"
                                    + " can not be less than status.capacity");
        }
        assertThat(refusal(CLAIMS + "/c", size("0")))
                .contains("spec.resources[storage]: Invalid value: \"0\": must be greater than zero");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "'storageClassName':'',", "'storageClassName':'gone',", "'storageClassName':'slow',"})
    void boundClaimGrowsOnlyIfItsClassAllowsIt(String storageClass) {
        create(CLASSES, "{'metadata':{'name':'slow'},'provisioner':'p'}");
        claim(storageClass);
        bound();

        Answer refused = server.patch(TestServer.MERGE, CLAIMS + "/c", json(size("2Gi")));

        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.message())
                .isEqualTo(
                        "persistentvolumeclaims \"c\" is forbidden: only dynamically provisioned pvc can be resized and"
                                + " the storageclass that provisions the pvc must support resize");
        change(CLAIMS + "/c", size("1Gi"));
    }

    @Test
    void classOfAClaimMayBeInTheAnnotationOfEarlierKubernetes() {
        create(CLASSES, "{'metadata':{'name':'fast'},'provisioner':'p','allowVolumeExpansion':true}");
        claim("");
        change(CLAIMS + "/c", "{'metadata':{'annotations':{'volume.beta.kubernetes.io/storage-class':'fast'}}}");
        bound();

        change(CLAIMS + "/c", size("2Gi"));
    }

    @Test
    void volumeOfAClaimIsChosenOnce() {
        claim("");
        change(CLAIMS + "/c", "{'spec':{'volumeName':'v'}}");

        assertThat(refusal(CLAIMS + "/c", "{'spec':{'volumeName':'w'}}")).isEqualTo(IMMUTABLE);
        assertThat(refusal(CLAIMS + "/c", "{'spec':{'volumeName':null}}")).isEqualTo(IMMUTABLE);
    }

    @Test
    void claimWithoutAClassGetsOneButAnEmptyClassIsAChoice() {
        claim("");
        change(CLAIMS + "/c", "{'spec':{'storageClassName':'fast'}}");
        assertThat(refusal(CLAIMS + "/c", "{'spec':{'storageClassName':'slow'}}"))
                .isEqualTo(IMMUTABLE);

        server.delete(CLAIMS + "/c", "");
        claim("'storageClassName':'',");
        assertThat(refusal(CLAIMS + "/c", "{'spec':{'storageClassName':'fast'}}"))
                .isEqualTo(IMMUTABLE);
        assertThat(refusal(CLAIMS + "/c", "{'spec':{'storageClassName':null}}")).isEqualTo(IMMUTABLE);
    }

    @Test
    void attributesOfABoundClaimAreReplacedAndTakenAwayOnlyBeforeTheyApply() {
        claim("");
        assertThat(refusal(CLAIMS + "/c", attributes("'gold'"))).isEqualTo(IMMUTABLE);
        bound();
        change(CLAIMS + "/c", attributes("'gold'"));
        change(CLAIMS + "/c", attributes("null"));
        change(CLAIMS + "/c", attributes("'silver'"));

        // when the volume has the attributes
        change(CLAIMS + "/c/status", "{'status':{'currentVolumeAttributesClassName':'silver'}}");

        // then it always has some
        assertThat(refusal(CLAIMS + "/c", attributes("null")))
                .endsWith("spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when"
                        + " status.currentVolumeAttributesClassName is not nil");
        assertThat(refusal(CLAIMS + "/c", attributes("''")))
                .endsWith("spec.volumeAttributesClassName: Forbidden: update to empty string is forbidden when"
                        + " status.currentVolumeAttributesClassName is not nil");
        change(CLAIMS + "/c", attributes("'gold'"));
    }

    /** As kube-controller-manager does when it binds a volume: it leaves out what is false or empty. */
    @Test
    void volumeIsBoundByAClientThatLeavesOutWhatIsFalse() {
        volume("'nfs':{'server':'s','path':'/p','readOnly':false},'mountOptions':[]");

        Answer bound = server.put(
                VOLUMES + "/v",
                json("{'metadata':{'name':'v'},'spec':{'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'},"
                        + "'nfs':{'server':'s','path':'/p'},'claimRef':{'namespace':'default','name':'c'}}}"));

        assertThat(bound.status()).as(bound.text()).isEqualTo(200);
        assertThat(refusal(VOLUMES + "/v", "{'spec':{'nfs':{'readOnly':true}}}"))
                .isEqualTo("PersistentVolume \"v\" is invalid: spec.persistentvolumesource: Forbidden:"
                        + " spec.persistentvolumesource is immutable after creation");
    }

    @Test
    void sourceOfANewClaimIsInBothFields() {
        String snapshot = "{'apiGroup':'snapshot.storage.k8s.io','kind':'VolumeSnapshot','name':'s'}";
        claim("'dataSource':" + snapshot + ",");
        assertThat(sources()).isEqualTo(json(snapshot + " " + snapshot));

        server.delete(CLAIMS + "/c", "");
        claim("'dataSourceRef':" + snapshot + ",");
        assertThat(sources()).isEqualTo(json(snapshot + " " + snapshot));
    }

    @Test
    void clientThatKnowsOnlyOneSourceOfAClaimMayPutItBack() {
        String snapshot = "{'apiGroup':'snapshot.storage.k8s.io','kind':'VolumeSnapshot','name':'s'}";
        claim("'dataSource':" + snapshot + ",");
        JsonObject claim = server.get(CLAIMS + "/c").json();

        Answer answer = server.put(
                CLAIMS + "/c",
                claim.update("spec", spec -> spec.without("dataSourceRef")).toString());

        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        assertThat(sources()).isEqualTo(json(snapshot + " " + snapshot));
    }

    @Test
    void olderSourceOfAnotherKindIsIgnored() {
        claim("'dataSource':{'kind':'Other','name':'s'},");

        assertThat(sources()).isEqualTo("{} {}");
    }

    @Test
    void sourceOfANewClaimInAnotherNamespaceIsOnlyInTheNewerField() {
        String snapshot =
                "{'apiGroup':'snapshot.storage.k8s.io','kind':'VolumeSnapshot','name':'s','namespace':'other'}";
        claim("'dataSourceRef':" + snapshot + ",");

        assertThat(sources()).isEqualTo(json("{} " + snapshot));
    }

    /** Both fields of the claim. */
    private String sources() {
        JsonObject spec = server.get(CLAIMS + "/c").json().object("spec");
        return spec.object("dataSource") + " " + spec.object("dataSourceRef");
    }

    @Test
    void secretForExpansionsIsAddedToAVolumeOnce() {
        volume("'csi':{'driver':'d','volumeHandle':'h'}");
        change(VOLUMES + "/v", "{'spec':{'csi':{'controllerExpandSecretRef':{'name':'s','namespace':'default'}}}}");

        assertThat(refusal(VOLUMES + "/v", "{'spec':{'csi':{'controllerExpandSecretRef':{'name':'t'}}}}"))
                .endsWith("spec.persistentvolumesource is immutable after creation");
        assertThat(refusal(VOLUMES + "/v", "{'spec':{'csi':{'volumeHandle':'i'}}}"))
                .endsWith("spec.persistentvolumesource is immutable after creation");
    }

    @Test
    void volumeGrowsAndKeepsASize() {
        volume("'hostPath':{'path':'/d'}");

        change(VOLUMES + "/v", "{'spec':{'capacity':{'storage':'2Gi'}}}");

        assertThat(refusal(VOLUMES + "/v", "{'spec':{'capacity':{'storage':'-1'}}}"))
                .isEqualTo("PersistentVolume \"v\" is invalid: spec.capacity[storage]: Invalid value: \"-1\": must be"
                        + " greater than zero");
        assertThat(refusal(VOLUMES + "/v", "{'spec':{'capacity':null}}"))
                .isEqualTo("PersistentVolume \"v\" is invalid: spec.capacity: Required value");
    }

    @Test
    void nodesOfAVolumeAreChosenOnce() {
        volume("'hostPath':{'path':'/d'}");
        change(VOLUMES + "/v", affinity("kubernetes.io/hostname", "n1"));

        String refused = "PersistentVolume \"v\" is invalid: spec.nodeAffinity: Invalid value: ";
        String why = ": field is immutable, except for updating from beta label to GA";
        assertThat(refusal(VOLUMES + "/v", affinity("kubernetes.io/hostname", "n2")))
                .startsWith(refused + "{\"required\":")
                .endsWith(why);
        assertThat(refusal(VOLUMES + "/v", "{'spec':{'nodeAffinity':null}}")).isEqualTo(refused + "null" + why);
    }

    @Test
    void labelOfANodeLeavesBetaInTheAffinityOfAVolume() {
        volume("'hostPath':{'path':'/d'}");
        change(VOLUMES + "/v", affinity("failure-domain.beta.kubernetes.io/zone", "z1"));

        assertThat(refusal(VOLUMES + "/v", affinity("topology.kubernetes.io/zone", "z2")))
                .endsWith("except for updating from beta label to GA");
        change(VOLUMES + "/v", affinity("topology.kubernetes.io/zone", "z1"));
        assertThat(refusal(VOLUMES + "/v", affinity("failure-domain.beta.kubernetes.io/zone", "z1")))
                .endsWith("except for updating from beta label to GA");
    }

    @Test
    void volumeKeepsAClassOfAttributes() {
        volume("'csi':{'driver':'d','volumeHandle':'h'},'volumeAttributesClassName':'gold'");

        change(VOLUMES + "/v", attributes("'silver'"));

        assertThat(refusal(VOLUMES + "/v", attributes("null")))
                .isEqualTo("PersistentVolume \"v\" is invalid: spec.volumeAttributesClassName: Forbidden: update from"
                        + " non-nil value to nil is forbidden");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{'provisioner':'other'} | provisioner: Forbidden: updates to provisioner are forbidden.",
                "{'parameters':{'type':'hdd'}} | parameters: Forbidden: updates to parameters are forbidden.",
                "{'reclaimPolicy':'Retain'} | reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.",
                "{'volumeBindingMode':'WaitForFirstConsumer'} | volumeBindingMode: Invalid value:"
                        + " ^WaitForFirstConsumer^: field is immutable"
            })
    void storageClassKeepsHowItMakesVolumes(String patch, String error) {
        create(CLASSES, "{'metadata':{'name':'fast'},'provisioner':'p','parameters':{'type':'ssd'}}");

        change(CLASSES + "/fast", "{'allowVolumeExpansion':true}");

        assertThat(refusal(CLASSES + "/fast", patch))
                .isEqualTo("StorageClass.storage.k8s.io \"fast\" is invalid: " + error.replace('^', '"'));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{'name':'d','nodeID':'j','topologyKeys':['zone']}", "{'name':'d','nodeID':'i'}"})
    void driverOfANodeIsTheSameUntilItIsRemoved(String changed) {
        create(
                CSI_NODES,
                "{'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'d','nodeID':'i','topologyKeys':['zone']}]}}");

        assertThat(refusal(CSI_NODES + "/n1", drivers(changed)))
                .isEqualTo("CSINode.storage.k8s.io \"n1\" is invalid: spec.drivers: Invalid value: " + json(changed)
                        + ": field is immutable");

        change(CSI_NODES + "/n1", drivers(""));
        change(CSI_NODES + "/n1", drivers(changed));
    }

    @Test
    void numberOfVolumesOfADriverChanges() {
        create(CSI_NODES, "{'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'d','nodeID':'i'}]}}");

        change(CSI_NODES + "/n1", drivers("{'name':'d','nodeID':'i','topologyKeys':[],'allocatable':{'count':3}}"));
        change(
                CSI_NODES + "/n1",
                drivers("{'name':'d','nodeID':'i','allocatable':{'count':5}},{'name':'e','nodeID':'i'}"));

        assertThat(refusal(CSI_NODES + "/n1", drivers("{'name':'d','nodeID':'i','allocatable':{'count':-1}}")))
                .endsWith("spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0");
    }

    @Test
    void idOfANodeHasAtMost256Bytes() {
        create(CSI_NODES, "{'metadata':{'name':'n1'},'spec':{'drivers':[]}}");

        change(CSI_NODES + "/n1", drivers("{'name':'d','nodeID':'" + "i".repeat(256) + "'}"));

        assertThat(refusal(CSI_NODES + "/n1", drivers("{'name':'e','nodeID':'" + "i".repeat(257) + "'}")))
                .endsWith("i\": must be 256 characters or less");
    }

    private void claim(String fields) {
        create(
                CLAIMS,
                "{'metadata':{'name':'c'},'spec':{" + fields
                        + "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}");
    }

    private void bound() {
        change(CLAIMS + "/c/status", "{'status':{'phase':'Bound','capacity':{'storage':'1Gi'}}}");
    }

    private void volume(String fields) {
        create(
                VOLUMES,
                "{'metadata':{'name':'v'},'spec':{" + fields
                        + ",'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'}}}");
    }

    private static String size(String storage) {
        return "{'spec':{'resources':{'requests':{'storage':'" + storage + "'}}}}";
    }

    private static String attributes(String name) {
        return "{'spec':{'volumeAttributesClassName':" + name + "}}";
    }

    private static String affinity(String label, String value) {
        return "{'spec':{'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'" + label
                + "','operator':'In','values':['" + value + "']}]}]}}}}";
    }

    private static String drivers(String drivers) {
        return "{'spec':{'drivers':[" + drivers + "]}}";
    }

    private void create(String path, String object) {
        Answer created = server.post(path, json(object));
        assertThat(created.status()).as(created.text()).isEqualTo(201);
    }

    private void change(String path, String patch) {
        Answer changed = server.patch(TestServer.MERGE, path, json(patch));
        assertThat(changed.status()).as(changed.text()).isEqualTo(200);
    }

    private String refusal(String path, String patch) {
        Answer refused = server.patch(TestServer.MERGE, path, json(patch));
        assertThat(refused.status()).as(refused.text()).isEqualTo(422);
        return refused.message();
    }

    private static String json(String text) {
        return text.replace('\'', '"');
    }
}
