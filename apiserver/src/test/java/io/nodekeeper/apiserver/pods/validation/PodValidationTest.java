package io.nodekeeper.apiserver.pods.validation;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Pods that kube-apiserver 1.32 refuses, with its messages. */
class PodValidationTest {
    private static final String PODS = "/api/v1/namespaces/default/pods";
    private static final String SETS = "/apis/apps/v1/namespaces/default/daemonsets";

    /** A part of a container, and the errors below {@code spec.containers[0]}. */
    private static final String CONTAINERS = """
            'ports':[{'containerPort':70000}] | .ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive
            'ports':[{'containerPort':-1}] | .ports[0].containerPort: Invalid value: -1: must be between 1 and 65535, inclusive
            'ports':[{'hostPort':80}] | .ports[0].containerPort: Required value
            'ports':[{'containerPort':80,'hostPort':70000}] | .ports[0].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive
            'ports':[{'containerPort':80,'protocol':'ICMP'}] | .ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"
            'ports':[{'containerPort':80,'protocol':'tcp'}] | .ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"
            'ports':[{'containerPort':80,'name':'a'},{'containerPort':81,'name':'a'}] | .ports[1].name: Duplicate value: "a"
            'ports':[{'containerPort':80,'name':'averyveryverylong'}] | .ports[0].name: Invalid value: "averyveryverylong": must be no more than 15 characters
            'ports':[{'containerPort':80,'name':'80'}] | .ports[0].name: Invalid value: "80": must contain at least one letter (a-z)
            'ports':[{'containerPort':80,'hostPort':80},{'containerPort':81,'hostPort':80}] | .ports[1].hostPort: Duplicate value: "TCP//80"
            'imagePullPolicy':'Sometimes' | .imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"
            'terminationMessagePolicy':'Log' | .terminationMessagePolicy: Unsupported value: "Log": supported values: "File", "FallbackToLogsOnError"
            'restartPolicy':'Always' | .restartPolicy: Forbidden: may not be set for non-init containers
            'env':[{'value':'1'}] | .env[0].name: Required value
            'env':[{'name':'a=b'}] | .env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='
            'env':[{'name':'a','valueFrom':{}}] | .env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`
            'env':[{'name':'a','value':'1','valueFrom':{'fieldRef':{'fieldPath':'metadata.name'}}}] | .env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty
            'env':[{'name':'a','valueFrom':{'fieldRef':{'fieldPath':'metadata.name'},'secretKeyRef':{'name':'s','key':'k'}}}] | .env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time
            'env':[{'name':'a','valueFrom':{'fieldRef':{'fieldPath':'metadata.whatever'}}}] | .env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.whatever": error converting fieldPath: field label not supported: metadata.whatever
            'env':[{'name':'a','valueFrom':{'fieldRef':{}}}] | .env[0].valueFrom.fieldRef.fieldPath: Required value
            'env':[{'name':'a','valueFrom':{'secretKeyRef':{'name':'s'}}}] | .env[0].valueFrom.secretKeyRef.key: Required value
            'env':[{'name':'a','valueFrom':{'resourceFieldRef':{'resource':'limits.gold'}}}] | .env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gold": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"
            'envFrom':[{}] | .envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`
            'envFrom':[{'configMapRef':{}}] | .envFrom[0].configMapRef.name: Required value
            'volumeMounts':[{'name':'v','mountPath':'/p'}] | .volumeMounts[0].name: Not found: "v"
            'volumeMounts':[{'name':'known'}] | .volumeMounts[0].mountPath: Required value
            'volumeMounts':[{'name':'known','mountPath':'/p'},{'name':'known','mountPath':'/p'}] | .volumeMounts[1].mountPath: Invalid value: "/p": must be unique
            'volumeMounts':[{'name':'known','mountPath':'/p','subPath':'../etc'}] | .volumeMounts[0].subPath: Invalid value: "../etc": must not contain '..'
            'volumeMounts':[{'name':'known','mountPath':'/p','subPath':'/etc'}] | .volumeMounts[0].subPath: Invalid value: "/etc": must be a relative path
            'volumeMounts':[{'name':'known','mountPath':'/p','subPath':'a','subPathExpr':'b'}] | .volumeMounts[0].subPathExpr: Invalid value: "b": subPathExpr and subPath are mutually exclusive
            'volumeMounts':[{'name':'known','mountPath':'/p','mountPropagation':'Bidirectional'}] | .volumeMounts[0].mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers
            'volumeMounts':[{'name':'known','mountPath':'/p','recursiveReadOnly':'Enabled'}] | .volumeMounts[0].recursiveReadOnly: Forbidden: may only be specified when readOnly is true
            'volumeDevices':[{'name':'known','devicePath':'/d'}] | .volumeDevices[0].name: Invalid value: "known": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode
            'livenessProbe':{} | .livenessProbe: Required value: must specify a handler type
            'livenessProbe':{'exec':{'command':['c']},'tcpSocket':{'port':1}} | .livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type
            'livenessProbe':{'exec':{}} | .livenessProbe.exec.command: Required value
            'livenessProbe':{'exec':{'command':['c']},'successThreshold':2} | .livenessProbe.successThreshold: Invalid value: 2: must be 1
            'startupProbe':{'exec':{'command':['c']},'successThreshold':2} | .startupProbe.successThreshold: Invalid value: 2: must be 1
            'readinessProbe':{'exec':{'command':['c']},'periodSeconds':-1} | .readinessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0
            'readinessProbe':{'exec':{'command':['c']},'terminationGracePeriodSeconds':1} | .readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes
            'readinessProbe':{'httpGet':{'port':0}} | .readinessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive
            'readinessProbe':{'httpGet':{'port':'web','scheme':'FTP'}} | .readinessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"
            'readinessProbe':{'grpc':{}} | .readinessProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, inclusive
            'lifecycle':{'preStop':{}} | .lifecycle.preStop: Required value: must specify a handler type
            'lifecycle':{'preStop':{'sleep':{'seconds':31}}} | .lifecycle.preStop.sleep: Invalid value: 31: must be greater than 0 and less than terminationGracePeriodSeconds (30)
            'resources':{'limits':{'cpu':'-1'}} | .resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0; .resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0
            'resources':{'limits':{'cpu':'1'},'requests':{'cpu':'2'}} | .resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1
            'resources':{'requests':{'example.com/gpu':'1'}} | .resources.limits: Required value: Limit must be set for non overcommitable resources
            'resources':{'limits':{'example.com/gpu':'1500m'}} | .resources.limits[example.com/gpu]: Invalid value: "1500m": must be an integer; .resources.requests[example.com/gpu]: Invalid value: "1500m": must be an integer
            'resources':{'limits':{'hugepages-2Mi':'4Mi'}} | .resources: Forbidden: HugePages require cpu or memory
            'resources':{'limits':{'gold':'1'}} | .resources.limits[gold]: Invalid value: "gold": must be a standard resource for containers; .resources.requests[gold]: Invalid value: "gold": must be a standard resource for containers
            'resources':{'claims':[{'name':'c'}]} | .resources.claims[0]: Not found: "c"
            'securityContext':{'runAsUser':-1} | .securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive
            'securityContext':{'procMount':'All'} | .securityContext.procMount: Unsupported value: "All": supported values: "Default", "Unmasked"
            'securityContext':{'seccompProfile':{'type':'Localhost'}} | .securityContext.seccompProfile.localhostProfile: Required value: must be set when type is Localhost
            'securityContext':{'appArmorProfile':{}} | .securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set
            'securityContext':{'appArmorProfile':{'type':'Localhost'}} | .securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost
            'securityContext':{'appArmorProfile':{'type':'Localhost','localhostProfile':' p'}} | .securityContext.appArmorProfile.localhostProfile: Invalid value: " p": must not be padded with whitespace
            'securityContext':{'appArmorProfile':{'type':'RuntimeDefault','localhostProfile':'p'}} | .securityContext.appArmorProfile.localhostProfile: Invalid value: "p": can only be set when AppArmor type is Localhost
            'securityContext':{'appArmorProfile':{'type':'None'}} | .securityContext.appArmorProfile.type: Unsupported value: "None": supported values: "Localhost", "RuntimeDefault", "Unconfined"
            'securityContext':{'windowsOptions':{'gmsaCredentialSpec':''}} | .securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string
            'securityContext':{'windowsOptions':{'runAsUserName':''}} | .securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string
            'securityContext':{'windowsOptions':{'runAsUserName':'a/b'}} | .securityContext.windowsOptions.runAsUserName: Invalid value: "a/b": runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]
            'securityContext':{'windowsOptions':{'runAsUserName':'..'}} | .securityContext.windowsOptions.runAsUserName: Invalid value: "..": runAsUserName's User cannot contain only periods or spaces
            'securityContext':{'windowsOptions':{'runAsUserName':'a\\\\b\\\\c'}} | .securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash
            'securityContext':{'windowsOptions':{'runAsUserName':'..x\\\\b'}} | .securityContext.windowsOptions.runAsUserName: Invalid value: "..x\\\\b": runAsUserName's Domain doesn't match the NetBios nor the DNS format
            'securityContext':{'windowsOptions':{'runAsUserName':'d\\\\'}} | .securityContext.windowsOptions.runAsUserName: Invalid value: "d\\\\": runAsUserName's User cannot be empty
            'securityContext':{'privileged':true,'allowPrivilegeEscalation':false} | .securityContext: Invalid value: {"privileged":true,"allowPrivilegeEscalation":false}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true
            """;

    /** A part of a pod's spec, and the errors below {@code spec}. */
    private static final String SPECS = """
            'volumes':[{'emptyDir':{}}] | .volumes[0].name: Required value
            'volumes':[{'name':'A'}] | .volumes[0].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')
            'volumes':[{'name':'v'},{'name':'v'}] | .volumes[1].name: Duplicate value: "v"
            'volumes':[{'name':'v','emptyDir':{},'secret':{'secretName':'s'}}] | .volumes[0].secret: Forbidden: may not specify more than 1 volume type
            'volumes':[{'name':'v','secret':{}}] | .volumes[0].secret.secretName: Required value
            'volumes':[{'name':'v','secret':{'secretName':'s','defaultMode':512}}] | .volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive
            'volumes':[{'name':'v','secret':{'secretName':'s','items':[{'key':'k'}]}}] | .volumes[0].secret.items[0].path: Required value
            'volumes':[{'name':'v','configMap':{}}] | .volumes[0].configMap.name: Required value
            'volumes':[{'name':'v','configMap':{'name':'m','items':[{'key':'k','path':'../p'}]}}] | .volumes[0].configMap.items[0].path: Invalid value: "../p": must not contain '..'
            'volumes':[{'name':'v','hostPath':{}}] | .volumes[0].hostPath.path: Required value
            'volumes':[{'name':'v','hostPath':{'path':'/a/../b'}}] | .volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain '..'
            'volumes':[{'name':'v','hostPath':{'path':'/p','type':'Pipe'}}] | .volumes[0].hostPath.type: Unsupported value: "Pipe": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"
            'volumes':[{'name':'v','persistentVolumeClaim':{}}] | .volumes[0].persistentVolumeClaim.claimName: Required value
            'volumes':[{'name':'v','nfs':{'server':'s','path':'p'}}] | .volumes[0].nfs.path: Invalid value: "p": must be an absolute path
            'volumes':[{'name':'v','csi':{}}] | .volumes[0].csi.driver: Required value
            'volumes':[{'name':'v','iscsi':{'targetPortal':'t','iqn':'x','lun':256}}] | .volumes[0].iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa; .volumes[0].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive
            'volumes':[{'name':'v','downwardAPI':{'items':[{'path':'p'}]}}] | .volumes[0].downwardAPI.items[0]: Required value: one of fieldRef and resourceFieldRef is required
            'volumes':[{'name':'v','downwardAPI':{'items':[{'path':'p','fieldRef':{'fieldPath':'spec.nodeName'}}]}}] | .volumes[0].downwardAPI.items[0].fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"
            'volumes':[{'name':'v','projected':{'sources':[{'serviceAccountToken':{'path':'t','expirationSeconds':1}}]}}] | .volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes
            'volumes':[{'name':'v','projected':{'sources':[{'secret':{'name':'s'},'configMap':{'name':'m'}}]}}] | .volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type
            'volumes':[{'name':'v','emptyDir':{'sizeLimit':'-1'}}] | .volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity
            'volumes':[{'name':'v','ephemeral':{}}] | .volumes[0].ephemeral.volumeClaimTemplate: Required value
            'restartPolicy':'Sometimes' | .restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"
            'dnsPolicy':'Custom' | .dnsPolicy: Unsupported value: "Custom": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"
            'dnsPolicy':'None' | .dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None
            'dnsConfig':{'nameservers':['1.1.1.1','1.1.1.2','1.1.1.3','::1']} | .dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","::1"]: must not have more than 3 nameservers
            'dnsConfig':{'nameservers':['one']} | .dnsConfig.nameservers[0]: Invalid value: "one": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)
            'dnsConfig':{'options':[{}]} | .dnsConfig.options[0]: Required value: must not be empty
            'hostAliases':[{'ip':'1.2.3.256','hostnames':['h']}] | .hostAliases[0].ip: Invalid value: "1.2.3.256": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)
            'activeDeadlineSeconds':0 | .activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive
            'terminationGracePeriodSeconds':-1 | .terminationGracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0
            'os':{'name':'plan9'} | .os.name: Unsupported value: "plan9": supported values: "linux", "windows"
            'ephemeralContainers':[{'name':'e','image':'i'}] | .ephemeralContainers: Forbidden: cannot be set on create
            'schedulingGates':[{'name':'a'},{'name':'a'}] | .schedulingGates[1]: Duplicate value: "a"
            'securityContext':{'fsGroup':-1} | .securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive
            'securityContext':{'supplementalGroups':[1,-1]} | .securityContext.supplementalGroups[1]: Invalid value: -1: must be between 0 and 2147483647, inclusive
            'securityContext':{'sysctls':[{'name':'a'},{'name':'a'}]} | .securityContext.sysctls[1].name: Duplicate value: "a"
            'os':{'name':'linux'},'securityContext':{'windowsOptions':{}} | .securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod
            'os':{'name':'windows'},'hostPID':true | .hostPID: Forbidden: cannot be set for a windows pod
            'os':{'name':'windows'},'hostUsers':true | .hostUsers: Forbidden: cannot be set for a windows pod
            'os':{'name':'windows'},'securityContext':{'runAsUser':1,'fsGroup':1} | .securityContext.fsGroup: Forbidden: cannot be set for a windows pod; .securityContext.runAsUser: Forbidden: cannot be set for a windows pod
            'os':{'name':'windows'},'initContainers':[{'name':'d','image':'i','securityContext':{'privileged':true}}] | .initContainers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod
            'securityContext':{'windowsOptions':{'hostProcess':true}} | .hostNetwork: Invalid value: "": hostNetwork must be true if pod contains any hostProcess containers
            'hostNetwork':true,'initContainers':[{'name':'d','image':'i','securityContext':{'windowsOptions':{'hostProcess':true}}}] | : Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers
            'hostNetwork':true,'securityContext':{'windowsOptions':{'hostProcess':true}},'initContainers':[{'name':'d','image':'i','securityContext':{'windowsOptions':{'hostProcess':false}}}] | .initContainers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true; : Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers
            'shareProcessNamespace':true,'hostPID':true | .shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled
            'hostUsers':false,'hostNetwork':true | .hostNetwork: Forbidden: when `hostUsers` is false
            'tolerations':[{'key':'a','operator':'Like'}] | .tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"
            'tolerations':[{}] | .tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"
            'tolerations':[{'key':'a','operator':'Exists','value':'b'}] | .tolerations[0].operator: Invalid value: "b": value must be empty when `operator` is 'Exists'
            'tolerations':[{'key':'a','operator':'Exists','tolerationSeconds':1}] | .tolerations[0].effect: Invalid value: "": effect must be 'NoExecute' when `tolerationSeconds` is set
            'tolerations':[{'key':'a','operator':'Exists','effect':'Never'}] | .tolerations[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"
            'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{}}} | .affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term
            'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':0,'preference':{}}]}} | .affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100
            'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{}]}} | .affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty
            'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'z','labelSelector':{'matchExpressions':[{'key':'k','operator':'In'}]}}]}} | .affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'
            'topologySpreadConstraints':[{'topologyKey':'z','maxSkew':0,'whenUnsatisfiable':'DoNotSchedule'}] | .topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero
            'topologySpreadConstraints':[{'topologyKey':'z','maxSkew':1,'whenUnsatisfiable':'ScheduleAnyway','minDomains':1}] | .topologySpreadConstraints[0].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule
            'nodeSelector':{'a b':'c'} | .nodeSelector: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')
            'resourceClaims':[{'name':'c'}] | .resourceClaims[0]: Invalid value: {"name":"c"}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`
            'initContainers':[{'name':'c','image':'i'}] | .initContainers[0].name: Duplicate value: "c"
            'initContainers':[{'name':'d','image':'i','restartPolicy':'Never'}] | .initContainers[0].restartPolicy: Unsupported value: "Never": supported values: "Always"
            'initContainers':[{'name':'d','image':'i','lifecycle':{'preStop':{'exec':{'command':['c']}}}}] | .initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always
            'initContainers':[{'name':'d','image':'i','livenessProbe':{'exec':{'command':['c']}}}] | .initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always
            """;

    private final TestServer server = new TestServer();

    static Stream<Arguments> containers() {
        return lines(CONTAINERS);
    }

    static Stream<Arguments> specs() {
        return lines(SPECS);
    }

    private static Stream<Arguments> lines(String table) {
        return table.lines().map(line -> {
            int bar = line.indexOf(" | ");
            return Arguments.of(line.substring(0, bar).replace('\'', '"'), line.substring(bar + 3));
        });
    }

    private static String pod(String spec) {
        return "{\"metadata\":{\"name\":\"p\"},\"spec\":{" + spec + "}}";
    }

    private static String withContainer(String part) {
        return "\"volumes\":[{\"name\":\"known\"}],\"containers\":[{\"name\":\"c\",\"image\":\"i\"," + part + "}]";
    }

    private static String withSpec(String part) {
        return "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]," + part;
    }

    private static List<String> errors(Answer answer) {
        return answer.json()
                .object("details")
                .array("causes")
                .objects()
                .map(cause -> cause.text("field") + ": " + cause.text("message"))
                .toList();
    }

    private static List<String> below(String path, String errors) {
        return Stream.of(errors.split("; (?=\\.|: )"))
                .map(error -> path + error)
                .toList();
    }

    @ParameterizedTest
    @MethodSource("containers")
    void invalidContainerIsRefused(String part, String errors) {
        Answer answer = server.post(PODS, pod(withContainer(part)));

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(errors(answer)).containsExactlyElementsOf(below("spec.containers[0]", errors));
        assertThat(server.get(PODS + "/p").status()).isEqualTo(404);
    }

    @ParameterizedTest
    @MethodSource("specs")
    void invalidSpecIsRefused(String part, String errors) {
        Answer answer = server.post(PODS, pod(withSpec(part)));

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(errors(answer)).containsExactlyElementsOf(below("spec", errors));
        assertThat(server.get(PODS + "/p").status()).isEqualTo(404);
    }

    @ParameterizedTest
    @MethodSource("containers")
    void invalidContainerIsRefusedInATemplate(String part, String errors) {
        Answer answer = server.post(SETS, set(withContainer(part)));

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        // Only pods, not templates, get requests from limits.
        assertThat(errors(answer))
                .containsExactlyElementsOf(below("spec.template.spec.containers[0]", errors).stream()
                        .filter(error -> !error.contains(".resources.requests["))
                        .toList());
    }

    private static String set(String spec) {
        return "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":"
                + "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{" + spec + "}}}}";
    }

    static Stream<Arguments> templateSpecs() {
        // Admission refuses pods with these values before validation.
        return lines("""
                'preemptionPolicy':'Maybe' | .preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"
                'overhead':{'gold':'1'} | .overhead[gold]: Invalid value: "gold": must be a standard resource for containers
                """);
    }

    @ParameterizedTest
    @MethodSource("templateSpecs")
    void invalidSpecIsRefusedInATemplate(String part, String errors) {
        Answer answer = server.post(SETS, set(withSpec(part)));

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(errors(answer)).containsExactlyElementsOf(below("spec.template.spec", errors));
    }

    static Stream<Arguments> appArmor() {
        return lines("""
                'other':'unconfined' | metadata.annotations[container.apparmor.security.beta.kubernetes.io/other]: Invalid value: "other": container not found
                'c':'wrong' | metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: "wrong": invalid AppArmor profile name: "wrong"
                'c':'runtime/default' | spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match
                'c':'localhost/b' | spec.containers[0].securityContext.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match
                """);
    }

    @ParameterizedTest
    @MethodSource("appArmor")
    void appArmorAnnotationMustMatchItsContainer(String annotation, String error) {
        String key = "\"container.apparmor.security.beta.kubernetes.io/";
        String pod = "{\"metadata\":{\"name\":\"p\",\"annotations\":{" + annotation.replaceFirst("\"", key)
                + "}},\"spec\":{"
                + withContainer(
                        "\"securityContext\":{\"appArmorProfile\":{\"type\":\"Localhost\",\"localhostProfile\":\"a\"}}")
                + "}}";

        Answer answer = server.post(PODS, pod);

        assertThat(errors(answer)).containsExactly(error);
    }

    @Test
    void responseHasAllErrorsInOrder() {
        Answer answer = server.post(
                PODS,
                pod("\"volumes\":[{\"name\":\"v\",\"secret\":{}}],\"containers\":[{\"name\":\"c\"},{\"image\":\"i\"}],"
                        + "\"dnsPolicy\":\"X\",\"hostname\":\"A\""));

        assertThat(answer.json().object("details").array("causes").objects().map(cause -> cause.text("field")))
                .containsExactly(
                        "spec.volumes[0].secret.secretName",
                        "spec.containers[0].image",
                        "spec.containers[1].name",
                        "spec.dnsPolicy",
                        "spec.hostname");
    }

    @Test
    void responseHasAtMostAHundredErrors() {
        String variables = String.join(
                ",",
                IntStream.range(0, 5_000).mapToObj(i -> "{\"value\":\"1\"}").toList());

        Answer answer = server.post(PODS, pod(withContainer("\"env\":[" + variables + "]")));

        assertThat(errors(answer)).hasSize(100);
        assertThat(answer.message()).contains(", and more");
    }

    @Test
    void hostPortsOfConcurrentContainersMustDiffer() {
        String port = "\"image\":\"i\",\"ports\":[{\"containerPort\":80,\"hostPort\":80}]}";

        Answer both =
                server.post(PODS, pod("\"containers\":[{\"name\":\"a\"," + port + ",{\"name\":\"b\"," + port + "]"));
        Answer inTurn = server.post(
                PODS,
                pod("\"initContainers\":[{\"name\":\"a\"," + port + ",{\"name\":\"b\"," + port
                        + "],\"containers\":[{\"name\":\"c\"," + port + "]"));

        assertThat(errors(both)).containsExactly("spec.containers[1].ports[0].hostPort: Duplicate value: \"TCP//80\"");
        assertThat(inTurn.status()).as(inTurn.text()).isEqualTo(201);
    }

    @Test
    void validPodWithMostFieldsIsAccepted() {
        Answer answer = server.post(PODS, pod(withSpec("""
                "volumes":[{"name":"a","secret":{"secretName":"s","defaultMode":511}},{"name":"b","hostPath":{"path":"/x",
                  "type":"Directory"}},{"name":"pvc","persistentVolumeClaim":{"claimName":"c"}},
                  {"name":"d","downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.labels['a.b/c']"}},
                  {"path":"m","resourceFieldRef":{"containerName":"s","resource":"limits.memory","divisor":"1Mi"}}]}}],
                "initContainers":[{"name":"s","image":"i","restartPolicy":"Always",
                  "startupProbe":{"tcpSocket":{"port":"web"}},"ports":[{"name":"web","containerPort":80}],
                  "volumeMounts":[{"name":"a","mountPath":"/a","readOnly":true,"recursiveReadOnly":"Enabled"},
                  {"name":"b","mountPath":"/b","subPath":"x/y"}],"volumeDevices":[{"name":"pvc","devicePath":"/dev/x"}],
                  "env":[{"name":"A.B-c","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['k']"}}},
                  {"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.hostIP"}}}],
                  "envFrom":[{"prefix":"P_","secretRef":{"name":"s"}}],
                  "lifecycle":{"preStop":{"sleep":{"seconds":30}}},
                  "resources":{"limits":{"cpu":"1","hugepages-2Mi":"4Mi","example.com/gpu":"2"},"claims":[{"name":"c"}]},
                  "securityContext":{"runAsUser":0,"seccompProfile":{"type":"RuntimeDefault"}}}],
                "resourceClaims":[{"name":"c","resourceClaimName":"x"}],
                "dnsPolicy":"None","dnsConfig":{"nameservers":["10.0.0.1","2001:db8::1","::ffff:1.2.3.4"],
                  "searches":["a.b.","c"],"options":[{"name":"ndots","value":"2"}]},
                "hostAliases":[{"ip":"::1","hostnames":["h"]}],
                "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
                  {"matchExpressions":[{"key":"k","operator":"Gt","values":["1"]}],
                   "matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}},
                  "podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"podAffinityTerm":
                  {"topologyKey":"z","labelSelector":{"matchLabels":{"a":"b"}},"matchLabelKeys":["v"]}}]}},
                "topologySpreadConstraints":[{"topologyKey":"z","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule",
                  "minDomains":2,"labelSelector":{}}],
                "tolerations":[{"operator":"Exists"}],"os":{"name":"linux"},
                "readinessGates":[{"conditionType":"example.com/ready"}],"schedulingGates":[{"name":"g"}],
                "hostname":"h","subdomain":"s","activeDeadlineSeconds":60,"terminationGracePeriodSeconds":30,
                "securityContext":{"fsGroup":1,"sysctls":[{"name":"net/ipv4/x"}],"supplementalGroups":[0]}""")));

        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    }

    private JsonObject stored(String spec) {
        Answer answer = server.post(PODS, pod(spec));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    static Stream<Arguments> changes() {
        return lines("""
                {'spec':{'activeDeadlineSeconds':200}} | spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value
                {'spec':{'activeDeadlineSeconds':null}} | spec.activeDeadlineSeconds: Invalid value: "": must not update from a positive integer to nil value
                {'spec':{'tolerations':[]}} | spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds
                {'spec':{'containers':[{'name':'c','image':'i'},{'name':'d','image':'i'}]}} | spec.containers: Forbidden: pod updates may not add or remove containers
                {'spec':{'schedulingGates':[{'name':'g'}]}} | spec.schedulingGates: Forbidden: only deletion is allowed, but found new scheduling gate '{"name":"g"}'
                {'metadata':{'annotations':{'kubernetes.io/config.mirror':'x'}}} | metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation
                """);
    }

    @ParameterizedTest
    @MethodSource("changes")
    void immutableFieldsAreRefusedInUpdates(String patch, String error) {
        stored(withSpec("\"activeDeadlineSeconds\":100,\"tolerations\":[{\"key\":\"own\",\"operator\":\"Exists\"}]"));

        Answer answer = server.patch(TestServer.MERGE, PODS + "/p", patch);

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(errors(answer)).containsExactly(error);
    }

    static Stream<Arguments> choices() {
        String selector = "spec.nodeSelector: Forbidden: only additions are allowed while the pod has scheduling gates";
        String affinity =
                "spec.affinity.nodeAffinity: Forbidden: existing required terms may only get more requirements while the pod"
                        + " has scheduling gates";
        String terms =
                "{'spec':{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[%s]}}}}}";
        String a = "{'matchExpressions':[{'key':'a','operator':'Exists'}]}";
        String both = "{'matchExpressions':[{'key':'a','operator':'Exists'},{'key':'b','operator':'Exists'}]}";
        return Stream.of(
                Arguments.of("{'spec':{'nodeSelector':{'disk':'ssd'}}}", ""),
                Arguments.of("{'spec':{'nodeSelector':{'tenant':'b'}}}", selector),
                Arguments.of("{'spec':{'nodeSelector':{'tenant':null}}}", selector),
                Arguments.of("{'spec':{'nodeSelector':null}}", selector),
                Arguments.of(terms.formatted(both), ""),
                Arguments.of(terms.formatted("{'matchExpressions':[{'operator':'Exists','key':'a'}]}"), ""),
                Arguments.of(terms.formatted(a + "," + a), affinity),
                Arguments.of(terms.formatted("{'matchExpressions':[{'key':'b','operator':'Exists'}]}"), affinity),
                Arguments.of("{'spec':{'affinity':null}}", affinity),
                Arguments.of("{'spec':{'affinity':null,'schedulingGates':null}}", affinity));
    }

    @ParameterizedTest
    @MethodSource("choices")
    void updateOfAGatedPodOnlyNarrowsTheChoiceOfNodes(String patch, String error) {
        // given a pod with a gate that is for the nodes of one tenant
        stored(withSpec("\"schedulingGates\":[{\"name\":\"g\"}],\"nodeSelector\":{\"tenant\":\"a\"},"
                + "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
                + "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}]}}}"));

        // when it is changed
        Answer answer = server.patch(TestServer.MERGE, PODS + "/p", patch.replace('\'', '"'));

        // then
        assertThat(answer.status()).as(answer.text()).isEqualTo(error.isEmpty() ? 200 : 422);
        if (!error.isEmpty()) {
            assertThat(errors(answer)).containsExactly(error);
        }
    }

    @Test
    void imagesDeadlinesAndTolerationsCanChange() {
        stored(withSpec("\"activeDeadlineSeconds\":100"));

        Answer answer = server.patch(
                TestServer.STRATEGIC,
                PODS + "/p",
                "{\"spec\":{\"activeDeadlineSeconds\":50,\"containers\":[{\"name\":\"c\",\"image\":\"j\"}],"
                        + "\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":"
                        + "\"NoExecute\",\"tolerationSeconds\":1},{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":"
                        + "\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":2},{\"key\":\"new\",\"operator\":\"Exists\"}]}}");

        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    }

    @Test
    void terminatedContainerCannotRunAgain() {
        stored(withSpec("\"restartPolicy\":\"Never\",\"nodeName\":\"n1\""));
        String ended =
                "{\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":1}}}]}}";
        String runs = "{\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"running\":{}}}]}}";

        Answer end = server.patch(TestServer.MERGE, PODS + "/p/status", ended);
        Answer again = server.patch(TestServer.MERGE, PODS + "/p/status", runs);

        assertThat(end.status()).as(end.text()).isEqualTo(200);
        assertThat(errors(again))
                .containsExactly(
                        "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state");
    }
}
