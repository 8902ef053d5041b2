package io.nodekeeper.apiserver.discovery;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The descriptions of kinds and of their main fields for {@code kubectl explain}. */
final class OpenApiTexts {
    private static final String ALL = """
            Node: A machine that runs pods. Its agent registers it and reports its status.
            Node.metadata: Name, labels and the like.
            Node.spec: What is wanted of the node.
            Node.status: What the node's agent has seen last.
            NodeSpec: What is wanted of a node.
            NodeSpec.podCIDR: The range of addresses for the node's pods.
            NodeSpec.podCIDRs: The ranges of addresses for the node's pods, one of each family; the first is podCIDR.
            NodeSpec.providerID: What the cloud calls the machine. It can be set once.
            NodeSpec.unschedulable: Whether new pods are kept away from the node, as kubectl cordon does.
            NodeSpec.taints: What keeps pods away that do not tolerate it.
            NodeSpec.configSource: No longer used.
            NodeSpec.externalID: No longer used.
            NodeStatus: What is known of a node.
            NodeStatus.capacity: All that the machine has, by resource.
            NodeStatus.allocatable: What of it pods may use.
            NodeStatus.phase: No longer used.
            NodeStatus.conditions: The state of the node's health; Ready says whether it can run pods.
            NodeStatus.addresses: How the node is reached.
            NodeStatus.daemonEndpoints: The ports of the agent.
            NodeStatus.nodeInfo: Versions and identities of the machine and its software.
            NodeStatus.images: The container images on the node.
            NodeStatus.volumesInUse: Attached volumes that are mounted.
            NodeStatus.volumesAttached: Volumes that are attached.
            NodeStatus.runtimeHandlers: What the container runtime can do.
            NodeStatus.features: What the node can do.
            NodeCondition: One side of a node's health.
            NodeCondition.type: Which side, as Ready or MemoryPressure.
            NodeCondition.status: True, False or Unknown.
            NodeCondition.lastHeartbeatTime: When it was last looked at.
            NodeCondition.lastTransitionTime: When its status last changed.
            NodeCondition.reason: Why, in one word for programs.
            NodeCondition.message: Why, in a sentence for people.
            NodeAddress: An address of a node.
            NodeAddress.type: What kind of address it is, as InternalIP or Hostname.
            NodeAddress.address: The address.
            NodeSystemInfo: What a machine and its software are.
            NodeSystemInfo.machineID: The identity of the installed system.
            NodeSystemInfo.bootID: Changes with each boot.
            NodeSystemInfo.kubeletVersion: The version of the agent.
            NodeSystemInfo.containerRuntimeVersion: Name and version of the container runtime.
            NodeSystemInfo.osImage: The name of the operating system.
            NodeSystemInfo.kernelVersion: The version of the kernel.
            Taint: Keeps pods away that do not tolerate it.
            Taint.key: What it is about.
            Taint.value: More about it; may be empty.
            Taint.effect: NoSchedule keeps new pods away, PreferNoSchedule if possible, NoExecute removes running ones too.
            Taint.timeAdded: When it was added; pods' patience counts from here.
            Toleration: Lets a pod stay in spite of a taint.
            Toleration.key: The taint's key; empty for all.
            Toleration.operator: Exists for any value, Equal for the one given.
            Toleration.value: The taint's value.
            Toleration.effect: The taint's effect; empty for all.
            Toleration.tolerationSeconds: How long it stays in spite of a NoExecute taint; for ever if absent.
            Pod: Containers that run together on one node.
            Pod.metadata: Name, labels and the like.
            Pod.spec: What is to run, and where.
            Pod.status: What has become of it.
            PodSpec: What is to run, and where.
            PodSpec.containers: The containers; at least one.
            PodSpec.initContainers: Containers that run, one after the other, before all others.
            PodSpec.nodeName: The node that it is on; set once.
            PodSpec.nodeSelector: Labels that the node must have.
            PodSpec.restartPolicy: When containers are started again: Always, OnFailure or Never.
            PodSpec.terminationGracePeriodSeconds: The seconds between the wish to end it and the end.
            PodSpec.tolerations: The taints in spite of which it runs.
            PodSpec.volumes: The volumes that its containers may mount.
            PodSpec.hostNetwork: Whether it uses the node's network.
            PodSpec.serviceAccountName: As whom it talks to the API.
            PodSpec.priorityClassName: How important it is.
            PodSpec.schedulerName: Who finds it a node.
            PodStatus: What has become of a pod.
            PodStatus.phase: Pending, Running, Succeeded, Failed or Unknown.
            PodStatus.conditions: How far it has come.
            PodStatus.message: Why it is so, in a sentence for people.
            PodStatus.reason: Why it is so, in one word for programs.
            PodStatus.hostIP: The address of its node.
            PodStatus.podIP: Its address.
            PodStatus.startTime: When its node took note of it.
            PodStatus.containerStatuses: What has become of each container.
            PodStatus.qosClass: How likely it is to be evicted, from what it asked for.
            PodCondition: How far a pod has come in one respect.
            Container: One container of a pod.
            Container.name: Its name in the pod.
            Container.image: The image that it runs.
            Container.command: What it runs instead of the image's entrypoint.
            Container.args: The arguments of the command.
            Container.env: Variables of its environment.
            Container.ports: The ports on which it listens.
            Container.resources: What it needs, and the most that it gets.
            Container.volumeMounts: Which volumes it sees where.
            Container.livenessProbe: Whether it still works; if not it is started again.
            Container.readinessProbe: Whether it can be sent work.
            Lease: Says who holds something, and since when they were last heard of. Each node renews one.
            Lease.metadata: Name, labels and the like.
            Lease.spec: Who holds it, and for how long.
            LeaseSpec: Who holds a lease, and for how long.
            LeaseSpec.holderIdentity: Who holds it.
            LeaseSpec.leaseDurationSeconds: How long after the last renewal it may be taken by others.
            LeaseSpec.acquireTime: When it was taken.
            LeaseSpec.renewTime: When it was last renewed.
            LeaseSpec.leaseTransitions: How often it changed hands.
            LeaseSpec.strategy: How the holder is chosen.
            LeaseSpec.preferredHolder: Who is to have it next.
            Event: Something that happened to an object. Events are forgotten after some time.
            Event.metadata: Name, labels and the like.
            Event.involvedObject: What it happened to.
            Event.regarding: What it happened to.
            Event.reason: What happened, in one word for programs.
            Event.message: What happened, in a sentence for people.
            Event.note: What happened, in a sentence for people.
            Event.source: Who tells of it.
            Event.type: Normal or Warning.
            Event.count: How often it happened.
            Event.firstTimestamp: When it happened first.
            Event.lastTimestamp: When it happened last.
            Event.eventTime: When it happened.
            Event.series: How often it happened and when last, if it goes on happening.
            Event.action: What was done about it.
            Event.related: Another object that has to do with it.
            Event.reportingComponent: Which program tells of it.
            Event.reportingController: Which program tells of it.
            Event.reportingInstance: Which process tells of it.
            Namespace: A place for names: objects of one kind may share a name if they are in different namespaces.
            Namespace.metadata: Name, labels and the like.
            Namespace.spec: What must be done before it can go.
            Namespace.status: Whether it is in use or about to go.
            NamespaceSpec: What must be done before a namespace can go.
            NamespaceSpec.finalizers: Who must let go of it first.
            NamespaceStatus: Whether a namespace is in use or about to go.
            NamespaceStatus.phase: Active or Terminating.
            NamespaceStatus.conditions: What hinders its end.
            ConfigMap: Settings as pairs of names and texts.
            ConfigMap.data: The texts.
            ConfigMap.binaryData: Values that are no text, in base64.
            ConfigMap.immutable: Whether the values can no longer be changed.
            Secret: Values that not everybody may see.
            Secret.data: The values, in base64.
            Secret.stringData: Values as they are; stored as data.
            Secret.type: What it is for.
            Secret.immutable: Whether the values can no longer be changed.
            ServiceAccount: Somebody as whom programs talk to the API.
            ServiceAccount.secrets: Secrets that its pods may use.
            ServiceAccount.imagePullSecrets: Secrets with which its pods' images are fetched.
            ServiceAccount.automountServiceAccountToken: Whether its pods get its token.
            Service: A name and an address for a group of pods.
            DaemonSet: A pod on each node, or on each that is selected.
            DaemonSetSpec.selector: Which pods are its own.
            DaemonSetSpec.template: The pod that is made on each node.
            DaemonSetStatus.desiredNumberScheduled: How many nodes should run it.
            DaemonSetStatus.numberReady: How many nodes run it and are ready.
            CSINode: The storage drivers on a node.
            CSINodeSpec.drivers: The drivers.
            CSIDriver: A storage driver.
            VolumeAttachment: The wish that a volume is attached to a node.
            RuntimeClass: A way to run containers.
            RuntimeClass.handler: What the container runtime calls it.
            Eviction: The wish that a pod leaves its node, unless too few like it would be left.
            Eviction.deleteOptions: How it is to be deleted.
            Binding: Puts a pod on a node.
            Binding.target: The node.
            TokenReview: Asks whose a token is.
            TokenRequest: Asks for a token of a service account.
            SelfSubjectReview: Asks who the asker is.
            SubjectAccessReview: Asks whether somebody may do something.
            SelfSubjectAccessReview: Asks whether the asker may do something.
            SelfSubjectRulesReview: Asks what the asker may do in a namespace.
            LocalSubjectAccessReview: Asks whether somebody may do something in a namespace.
            Role: What may be done in a namespace.
            Role.rules: The permissions; there is no way to forbid.
            RoleBinding: Says who may do what a role allows, in one namespace.
            ClusterRole: What may be done anywhere.
            ClusterRole.rules: The permissions; there is no way to forbid.
            ClusterRoleBinding: Says who may do what a role allows, anywhere.
            PolicyRule: A permission.
            PolicyRule.verbs: What may be done, as get; * for everything.
            PolicyRule.apiGroups: The groups of the resources.
            PolicyRule.resources: The resources, as nodes or nodes/status; * for all.
            PolicyRule.resourceNames: The names of the objects; all if empty.
            PolicyRule.nonResourceURLs: Paths that are no resources, as /metrics.
            PodDisruptionBudget: How many of some pods may be missing at once.
            DeleteOptions: How an object is to be deleted.
            DeleteOptions.gracePeriodSeconds: The seconds between the wish to end it and the end; 0 for at once.
            DeleteOptions.preconditions: What must be so for it to be done.
            DeleteOptions.propagationPolicy: What becomes of what belongs to it: Orphan, Background or Foreground.
            DeleteOptions.dryRun: All for a trial that changes nothing.
            Status: How a request went.
            ObjectMeta: What all objects have.
            ObjectMeta.name: The name; unique for the kind in its namespace.
            ObjectMeta.generateName: The beginning of a name that the server completes.
            ObjectMeta.namespace: The place of the name; empty for kinds without namespaces.
            ObjectMeta.uid: Unlike that of any other object, earlier ones of the same name included.
            ObjectMeta.resourceVersion: Changes with each change of the object. It can only be compared.
            ObjectMeta.generation: Counts the changes of what is wanted.
            ObjectMeta.creationTimestamp: When it was created.
            ObjectMeta.deletionTimestamp: When it is to be gone, if it was deleted but waits for something.
            ObjectMeta.deletionGracePeriodSeconds: The seconds from its deletion to that time.
            ObjectMeta.labels: Pairs by which objects are selected.
            ObjectMeta.annotations: Pairs by which nothing is selected.
            ObjectMeta.ownerReferences: The objects to which it belongs.
            ObjectMeta.finalizers: Who must let go of it before it is gone.
            ObjectMeta.managedFields: Who set which fields.
            """;

    private static final Map<String, String> TEXTS = parse();

    private OpenApiTexts() {}

    /** What there is to say of a kind, or of a part of one. */
    static Optional<String> of(Descriptor type) {
        return Optional.ofNullable(TEXTS.get(type.getName()));
    }

    /** What there is to say of a field. */
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
