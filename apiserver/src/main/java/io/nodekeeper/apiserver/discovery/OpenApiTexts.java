package io.nodekeeper.apiserver.discovery;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The descriptions of kinds and their main fields for {@code kubectl explain}. */
final class OpenApiTexts {
    /** One description per line, after the name of the type or field. */
    private static final String ALL = """
            Node: A machine that runs pods. Its agent registers it and reports its status.
            Node.metadata: Name, labels and other metadata.
            Node.spec: The desired state of the node.
            Node.status: The state of the node that its agent last reported.
            NodeSpec: The desired state of a node.
            NodeSpec.podCIDR: The range of IP addresses for the node's pods.
            NodeSpec.podCIDRs: The ranges of IP addresses for the node's pods, one per IP family; the first is podCIDR.
            NodeSpec.providerID: The cloud provider's ID of the machine. It can be set once.
            NodeSpec.unschedulable: Whether the scheduler ignores the node for new pods, as after kubectl cordon.
            NodeSpec.taints: The taints of the node. They repel pods that do not tolerate them.
            NodeSpec.configSource: Deprecated and not used.
            NodeSpec.externalID: Deprecated and not used.
            NodeStatus: The observed state of a node.
            NodeStatus.capacity: The total resources of the machine.
            NodeStatus.allocatable: The resources that pods can use.
            NodeStatus.phase: Deprecated and not used.
            NodeStatus.conditions: The health of the node; Ready tells whether it can run pods.
            NodeStatus.addresses: The addresses of the node.
            NodeStatus.daemonEndpoints: The ports of the agent.
            NodeStatus.nodeInfo: Versions and IDs of the machine and its software.
            NodeStatus.images: The container images on the node.
            NodeStatus.volumesInUse: The attached volumes that are mounted.
            NodeStatus.volumesAttached: The volumes that are attached.
            NodeStatus.runtimeHandlers: The handlers of the container runtime and their features.
            NodeStatus.features: The features that the container runtime supports.
            NodeCondition: One aspect of a node's health.
            NodeCondition.type: The aspect, such as Ready or MemoryPressure.
            NodeCondition.status: True, False or Unknown.
            NodeCondition.lastHeartbeatTime: When the condition was last updated.
            NodeCondition.lastTransitionTime: When the status last changed.
            NodeCondition.reason: The reason for the last transition, in one word for programs.
            NodeCondition.message: The reason for the last transition, in a sentence for people.
            NodeAddress: An address of a node.
            NodeAddress.type: The type of the address, such as InternalIP or Hostname.
            NodeAddress.address: The address.
            NodeSystemInfo: Versions and IDs of a machine and its software.
            NodeSystemInfo.machineID: The ID of the installed system.
            NodeSystemInfo.bootID: An ID that changes with each boot.
            NodeSystemInfo.kubeletVersion: The version of the agent.
            NodeSystemInfo.containerRuntimeVersion: The name and version of the container runtime.
            NodeSystemInfo.osImage: The name of the operating system.
            NodeSystemInfo.kernelVersion: The version of the kernel.
            Taint: Repels pods that do not tolerate it.
            Taint.key: The key of the taint.
            Taint.value: The value of the taint; may be empty.
            Taint.effect: NoSchedule: no new pods; PreferNoSchedule: none if possible; NoExecute: evicts running pods, too.
            Taint.timeAdded: When the taint was added; tolerationSeconds count from this time.
            Toleration: Lets a pod run on nodes with a taint.
            Toleration.key: The key of the taint; empty for all taints.
            Toleration.operator: Exists for any value, Equal for the given value.
            Toleration.value: The value of the taint.
            Toleration.effect: The effect of the taint; empty for all effects.
            Toleration.tolerationSeconds: How long the pod stays on a node with a NoExecute taint; forever if absent.
            Pod: Containers that run together on one node.
            Pod.metadata: Name, labels and other metadata.
            Pod.spec: The desired state of the pod.
            Pod.status: The observed state of the pod.
            PodSpec: The desired state of a pod.
            PodSpec.containers: The containers; at least one.
            PodSpec.initContainers: Containers that run one after the other before all others.
            PodSpec.nodeName: The node that runs the pod. It can be set once.
            PodSpec.nodeSelector: Labels that the node must have.
            PodSpec.restartPolicy: When containers are restarted: Always, OnFailure or Never.
            PodSpec.terminationGracePeriodSeconds: The time that the pod has to terminate, in seconds.
            PodSpec.tolerations: The taints that the pod tolerates.
            PodSpec.volumes: The volumes that the containers can mount.
            PodSpec.hostNetwork: Whether the pod uses the node's network.
            PodSpec.serviceAccountName: The service account that the pod runs as.
            PodSpec.priorityClassName: The PriorityClass of the pod.
            PodSpec.schedulerName: The scheduler that assigns the pod to a node.
            PodStatus: The observed state of a pod.
            PodStatus.phase: Pending, Running, Succeeded, Failed or Unknown.
            PodStatus.conditions: The conditions of the pod, such as Ready.
            PodStatus.message: The reason for the state, in a sentence for people.
            PodStatus.reason: The reason for the state, in one word for programs.
            PodStatus.hostIP: The IP address of the pod's node.
            PodStatus.podIP: The IP address of the pod.
            PodStatus.startTime: When the node accepted the pod.
            PodStatus.containerStatuses: The states of the containers.
            PodStatus.qosClass: The quality of service, which follows from the resource requests and limits.
            PodCondition: One aspect of a pod's state.
            Container: One container of a pod.
            Container.name: The name, unique in the pod.
            Container.image: The image that the container runs.
            Container.command: The command, instead of the image's entrypoint.
            Container.args: The arguments of the command.
            Container.env: The environment variables.
            Container.ports: The ports that the container listens on.
            Container.resources: The resources that the container requests, and their limits.
            Container.volumeMounts: The volumes that the container mounts, and their paths.
            Container.livenessProbe: Checks that the container works. If it fails, the container restarts.
            Container.readinessProbe: Checks whether the container can serve requests.
            Lease: Tells who holds something, and when the holder last renewed it. Each node renews one.
            Lease.metadata: Name, labels and other metadata.
            Lease.spec: The holder, and the time of its last renewal.
            LeaseSpec: The holder of a lease, and the time of its last renewal.
            LeaseSpec.holderIdentity: The identity of the holder.
            LeaseSpec.leaseDurationSeconds: The seconds after the last renewal before others may take the lease.
            LeaseSpec.acquireTime: When the holder acquired the lease.
            LeaseSpec.renewTime: When the holder last renewed the lease.
            LeaseSpec.leaseTransitions: How often the holder changed.
            LeaseSpec.strategy: How the holder is elected.
            LeaseSpec.preferredHolder: Who should hold the lease next.
            Event: A report of something that happened to an object. Events are deleted after some time.
            Event.metadata: Name, labels and other metadata.
            Event.involvedObject: The object that the event is about.
            Event.regarding: The object that the event is about.
            Event.reason: What happened, in one word for programs.
            Event.message: What happened, in a sentence for people.
            Event.note: What happened, in a sentence for people.
            Event.source: The component that reports the event.
            Event.type: Normal or Warning.
            Event.count: How often the event occurred.
            Event.firstTimestamp: When the event first occurred.
            Event.lastTimestamp: When the event last occurred.
            Event.eventTime: When the event occurred.
            Event.series: How often the event repeated, and when last.
            Event.action: The action that was taken.
            Event.related: A second object that the event is about.
            Event.reportingComponent: The controller that reports the event.
            Event.reportingController: The controller that reports the event.
            Event.reportingInstance: The process that reports the event.
            Namespace: A scope for names: objects in different namespaces can have the same name.
            Namespace.metadata: Name, labels and other metadata.
            Namespace.spec: The finalizers of the namespace.
            Namespace.status: Whether the namespace is in use or terminating.
            NamespaceSpec: The finalizers of a namespace.
            NamespaceSpec.finalizers: The steps that must complete before the namespace is removed.
            NamespaceStatus: Whether a namespace is in use or terminating.
            NamespaceStatus.phase: Active or Terminating.
            NamespaceStatus.conditions: What delays the deletion.
            ConfigMap: Configuration data as pairs of keys and values.
            ConfigMap.data: The values that are UTF-8 text.
            ConfigMap.binaryData: The values that are not text, in base64.
            ConfigMap.immutable: Whether updates of the values are refused.
            Secret: Confidential data as pairs of keys and values.
            Secret.data: The values, in base64.
            Secret.stringData: Values as plain text. A write converts them to data.
            Secret.type: What the secret is for.
            Secret.immutable: Whether updates of the values are refused.
            ServiceAccount: An identity for programs that use the API.
            ServiceAccount.secrets: The secrets that its pods can use.
            ServiceAccount.imagePullSecrets: The secrets for pulling its pods' images.
            ServiceAccount.automountServiceAccountToken: Whether its pods get its token.
            Service: A name and an address for a group of pods.
            DaemonSet: Runs one pod on each node, or on each selected node.
            DaemonSetSpec.selector: Selects the pods that the DaemonSet controls.
            DaemonSetSpec.template: The template of the pods.
            DaemonSetStatus.desiredNumberScheduled: The number of nodes that should run the pod.
            DaemonSetStatus.numberReady: The number of nodes whose pod is ready.
            Deployment: Runs a number of equal pods, and replaces them when their template changes.
            DeploymentSpec.replicas: The number of pods.
            DeploymentSpec.selector: Selects the pods that the Deployment controls.
            DeploymentSpec.template: The template of the pods.
            DeploymentSpec.strategy: How pods are replaced: RollingUpdate or Recreate.
            DeploymentStatus.readyReplicas: The number of pods that are ready.
            NetworkPolicy: Limits the traffic of pods, if the cluster's network plugin enforces it.
            NetworkPolicySpec.podSelector: Selects the pods that the policy is about; all pods of the namespace if empty.
            NetworkPolicySpec.ingress: The incoming traffic that is allowed.
            NetworkPolicySpec.egress: The outgoing traffic that is allowed.
            NetworkPolicySpec.policyTypes: Ingress, Egress or both: the traffic that the policy limits.
            ValidatingWebhookConfiguration: Webhooks that may refuse writes. This API server stores them, but calls none.
            ValidatingWebhookConfiguration.webhooks: The webhooks, and the writes that each is asked about.
            CertificateSigningRequest: A request for a certificate, which an approver approves and a signer signs.
            CertificateSigningRequestSpec.request: The request in PEM (PKCS#10).
            CertificateSigningRequestSpec.signerName: The signer, such as kubernetes.io/kubelet-serving.
            CertificateSigningRequestSpec.usages: The usages of the certificate.
            CertificateSigningRequestStatus.certificate: The certificate in PEM, once it is issued.
            CSINode: The CSI drivers on a node.
            CSINodeSpec.drivers: The drivers.
            CSIDriver: A CSI driver, which provides storage.
            PersistentVolume: A volume of the cluster that outlives the pods that use it.
            PersistentVolumeSpec.claimRef: The claim that the volume is bound to.
            PersistentVolumeClaim: A request for a persistent volume. Pods use the volume through it.
            PersistentVolumeClaimSpec.volumeName: The volume that the claim is bound to.
            StorageClass: A class of storage, and who provisions volumes of it.
            StorageClass.provisioner: The name of the provisioner.
            VolumeAttachment: A request to attach a volume to a node.
            RuntimeClass: A configuration of the container runtime that pods can select.
            RuntimeClass.handler: The name of the configuration in the container runtime.
            Eviction: A request to evict a pod. It is refused if a PodDisruptionBudget does not allow it.
            Eviction.deleteOptions: The options for the deletion.
            Binding: Assigns a pod to a node.
            Binding.target: The node.
            TokenReview: Authenticates a token.
            TokenRequest: Requests a token of a service account.
            SelfSubjectReview: Asks which user the requester is.
            SubjectAccessReview: Asks whether a user may make a request.
            SelfSubjectAccessReview: Asks whether the requester may make a request.
            SelfSubjectRulesReview: Asks what the requester may do in a namespace.
            LocalSubjectAccessReview: Asks whether a user may make a request in a namespace.
            Role: Permissions in one namespace.
            Role.rules: The permissions. A rule cannot deny anything.
            RoleBinding: Grants the permissions of a role to users in one namespace.
            ClusterRole: Permissions in the whole cluster.
            ClusterRole.rules: The permissions. A rule cannot deny anything.
            ClusterRoleBinding: Grants the permissions of a role to users in the whole cluster.
            PolicyRule: A permission.
            PolicyRule.verbs: The verbs, such as get; * for all.
            PolicyRule.apiGroups: The API groups of the resources.
            PolicyRule.resources: The resources, such as nodes or nodes/status; * for all.
            PolicyRule.resourceNames: The names of the objects; empty for all.
            PolicyRule.nonResourceURLs: URL paths that are not resources, such as /metrics.
            PodDisruptionBudget: Limits how many pods of a group may be unavailable at the same time.
            DeleteOptions: How to delete an object.
            DeleteOptions.gracePeriodSeconds: The time that the object has to terminate, in seconds; 0 deletes it at once.
            DeleteOptions.preconditions: The request is refused unless the object matches these.
            DeleteOptions.propagationPolicy: What happens to the dependents of the object: Orphan, Background or Foreground.
            DeleteOptions.dryRun: All for a dry run, which changes nothing.
            Status: The outcome of a request.
            ObjectMeta: The metadata of an object.
            ObjectMeta.name: The name. It is unique among the objects of the kind in the namespace.
            ObjectMeta.generateName: A prefix for the name, which the server completes.
            ObjectMeta.namespace: The namespace; empty for kinds without namespaces.
            ObjectMeta.uid: The unique ID. It differs from those of all other objects, past ones included.
            ObjectMeta.resourceVersion: An opaque version that changes with each change of the object.
            ObjectMeta.generation: Counts the changes of the desired state.
            ObjectMeta.creationTimestamp: When the object was created.
            ObjectMeta.deletionTimestamp: The time at which a terminating object is to be removed.
            ObjectMeta.deletionGracePeriodSeconds: The grace period of the deletion, in seconds.
            ObjectMeta.labels: Pairs of keys and values that selectors match.
            ObjectMeta.annotations: Pairs of keys and values that selectors do not match.
            ObjectMeta.ownerReferences: The objects that own this object.
            ObjectMeta.finalizers: The steps that must complete before the object is removed.
            ObjectMeta.managedFields: The owners of the fields.
            """;

    private static final Map<String, String> TEXTS = parse();

    private OpenApiTexts() {}

    /** The description of a message type. */
    static Optional<String> of(Descriptor type) {
        return Optional.ofNullable(TEXTS.get(type.getName()));
    }

    /** The description of a field. */
    static Optional<String> of(FieldDescriptor field) {
        return Optional.ofNullable(TEXTS.get(field.getContainingType().getName() + "." + field.getName()));
    }

    private static Map<String, String> parse() {
        Map<String, String> texts = new HashMap<>();
        ALL.lines().forEach(line -> {
            int colon = line.indexOf(": ");
            texts.put(line.substring(0, colon), line.substring(colon + 2));
        });
        return texts;
    }
}
