package io.nodekeeper.apiserver.wire;

import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * The scalar fields whose zero values are part of the object. Go writes every scalar field of a struct to protobuf,
 * even an unset one, but omits zeros from JSON. Two sorts of fields keep them: pointers, whose zero differs from an
 * absent value (such as a grace period of 0 seconds), and fields without {@code omitempty}. This lists both, from
 * Kubernetes' Go types, for the served kinds.
 */
final class KeptZeros {
    private static final String LISTED = """
            admissionregistration.MatchCondition name expression
            admissionregistration.Rule scope
            admissionregistration.ServiceReference namespace name path port
            admissionregistration.ValidatingWebhook name failurePolicy matchPolicy sideEffects timeoutSeconds
            admissionregistration.WebhookClientConfig url
            apps.DaemonSetCondition type status
            apps.DaemonSetSpec revisionHistoryLimit
            apps.DaemonSetStatus currentNumberScheduled numberMisscheduled desiredNumberScheduled numberReady collisionCount
            apps.DeploymentCondition type status
            apps.DeploymentSpec replicas revisionHistoryLimit progressDeadlineSeconds
            apps.DeploymentStatus terminatingReplicas collisionCount
            authentication.TokenRequestSpec expirationSeconds
            authentication.TokenRequestStatus token
            authorization.SubjectAccessReviewStatus allowed
            authorization.SubjectRulesReviewStatus incomplete
            coordination.LeaseSpec holderIdentity leaseDurationSeconds leaseTransitions strategy preferredHolder
            core.AWSElasticBlockStoreVolumeSource volumeID
            core.AppArmorProfile type localhostProfile
            core.AttachedVolume name devicePath
            core.AzureDiskVolumeSource diskName diskURI cachingMode fsType readOnly kind
            core.AzureFilePersistentVolumeSource secretName shareName secretNamespace
            core.AzureFileVolumeSource secretName shareName
            core.CSIPersistentVolumeSource driver volumeHandle
            core.CSIVolumeSource driver readOnly fsType
            core.CinderPersistentVolumeSource volumeID
            core.CinderVolumeSource volumeID
            core.ClientIPConfig timeoutSeconds
            core.ClusterTrustBundleProjection name signerName optional path
            core.ConfigMap immutable
            core.ConfigMapEnvSource optional
            core.ConfigMapKeySelector key optional
            core.ConfigMapNodeConfigSource namespace name kubeletConfigKey
            core.ConfigMapProjection optional
            core.ConfigMapVolumeSource defaultMode optional
            core.Container name restartPolicy
            core.ContainerPort containerPort
            core.ContainerResizePolicy resourceName restartPolicy
            core.ContainerRestartRule action
            core.ContainerRestartRuleOnExitCodes operator
            core.ContainerStateTerminated exitCode
            core.ContainerStatus name ready restartCount image imageID started stopSignal
            core.DaemonEndpoint Port
            core.DownwardAPIVolumeFile path mode
            core.DownwardAPIVolumeSource defaultMode
            core.EnvVar name
            core.EphemeralContainerCommon name restartPolicy
            core.Event reportingComponent reportingInstance
            core.FCVolumeSource lun
            core.FileKeySelector volumeName path key optional
            core.FlexPersistentVolumeSource driver
            core.FlexVolumeSource driver
            core.GCEPersistentDiskVolumeSource pdName
            core.GRPCAction port service
            core.GitRepoVolumeSource repository
            core.GlusterfsPersistentVolumeSource endpoints path endpointsNamespace
            core.GlusterfsVolumeSource endpoints path
            core.HTTPHeader name value
            core.HostAlias ip
            core.HostIP ip
            core.HostPathVolumeSource path type
            core.ISCSIPersistentVolumeSource targetPortal iqn lun initiatorName
            core.ISCSIVolumeSource targetPortal iqn lun initiatorName
            core.KeyToPath key path mode
            core.Lifecycle stopSignal
            core.LinuxContainerUser uid gid
            core.LoadBalancerIngress ipMode
            core.LocalVolumeSource path fsType
            core.NFSVolumeSource server path
            core.NamespaceCondition type status
            core.NodeAddress type address
            core.NodeCondition type status
            core.NodeFeatures supplementalGroupsPolicy
            core.NodeRuntimeHandler name
            core.NodeRuntimeHandlerFeatures recursiveReadOnlyMounts userNamespaces
            core.NodeSelectorRequirement key operator
            core.NodeSwapStatus capacity
            core.NodeSystemInfo machineID systemUUID bootID kernelVersion osImage containerRuntimeVersion kubeletVersion\
             kubeProxyVersion operatingSystem architecture
            core.ObjectFieldSelector fieldPath
            core.PersistentVolumeClaimSpec storageClassName volumeMode volumeAttributesClassName
            core.PersistentVolumeClaimVolumeSource claimName
            core.PersistentVolumeSpec volumeMode volumeAttributesClassName
            core.PhotonPersistentDiskVolumeSource pdID
            core.PodAffinityTerm topologyKey
            core.PodCertificateProjection signerName keyType maxExpirationSeconds
            core.PodCondition type status
            core.PodDNSConfigOption value
            core.PodIP ip
            core.PodOS name
            core.PodReadinessGate conditionType
            core.PodResourceClaim name resourceClaimName resourceClaimTemplateName
            core.PodResourceClaimStatus name resourceClaimName
            core.PodSchedulingGate name
            core.PodSecurityContext runAsUser runAsGroup runAsNonRoot supplementalGroupsPolicy fsGroup fsGroupChangePolicy\
             seLinuxChangePolicy
            core.PodSpec terminationGracePeriodSeconds activeDeadlineSeconds automountServiceAccountToken\
             shareProcessNamespace priority runtimeClassName enableServiceLinks preemptionPolicy setHostnameAsFQDN hostUsers\
             hostnameOverride
            core.PortStatus port protocol error
            core.PortworxVolumeSource volumeID
            core.PreferredSchedulingTerm weight
            core.Probe terminationGracePeriodSeconds
            core.ProjectedVolumeSource defaultMode
            core.QuobyteVolumeSource registry volume
            core.RBDPersistentVolumeSource image
            core.RBDVolumeSource image
            core.ResourceClaim name
            core.ResourceFieldSelector resource
            core.ResourceHealth resourceID message
            core.ScaleIOPersistentVolumeSource gateway system
            core.ScaleIOVolumeSource gateway system
            core.SeccompProfile type localhostProfile
            core.Secret immutable
            core.SecretEnvSource optional
            core.SecretKeySelector key optional
            core.SecretProjection optional
            core.SecretVolumeSource defaultMode optional
            core.SecurityContext privileged runAsUser runAsGroup runAsNonRoot readOnlyRootFilesystem\
             allowPrivilegeEscalation procMount
            core.ServiceAccount automountServiceAccountToken
            core.ServiceAccountTokenProjection expirationSeconds path
            core.ServicePort appProtocol port
            core.ServiceSpec ipFamilyPolicy allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy\
             trafficDistribution
            core.SleepAction seconds
            core.Sysctl name value
            core.Taint key effect
            core.Toleration tolerationSeconds
            core.TopologySpreadConstraint maxSkew topologyKey whenUnsatisfiable minDomains nodeAffinityPolicy\
             nodeTaintsPolicy
            core.TypedLocalObjectReference apiGroup kind name
            core.TypedObjectReference apiGroup kind name namespace
            core.Volume name
            core.VolumeDevice name devicePath
            core.VolumeMount name mountPath recursiveReadOnly mountPropagation
            core.VolumeMountStatus name mountPath recursiveReadOnly
            core.VsphereVirtualDiskVolumeSource volumePath
            core.WeightedPodAffinityTerm weight
            core.WindowsSecurityContextOptions gmsaCredentialSpecName gmsaCredentialSpec runAsUserName hostProcess
            events.EventSeries count
            networking.IPBlock cidr
            networking.NetworkPolicyPort protocol endPort
            node.RuntimeClass handler
            policy.PodDisruptionBudgetSpec unhealthyPodEvictionPolicy
            policy.PodDisruptionBudgetStatus disruptionsAllowed currentHealthy desiredHealthy expectedPods
            rbac.RoleRef apiGroup kind name
            rbac.Subject kind name
            storage.CSIDriverSpec attachRequired podInfoOnMount storageCapacity fsGroupPolicy requiresRepublish seLinuxMount\
             nodeAllocatableUpdatePeriodSeconds serviceAccountTokenInSecrets preventPodSchedulingIfMissing
            storage.CSINodeDriver name nodeID
            storage.StorageClass provisioner reclaimPolicy allowVolumeExpansion volumeBindingMode
            storage.TokenRequest audience expirationSeconds
            storage.VolumeAttachmentSource persistentVolumeName
            storage.VolumeAttachmentSpec attacher nodeName
            storage.VolumeAttachmentStatus attached
            storage.VolumeError errorCode
            storage.VolumeNodeResources count
            meta.Condition type status reason message
            meta.DeleteOptions gracePeriodSeconds orphanDependents propagationPolicy\
             ignoreStoreReadErrorWithClusterBreakingPotential
            meta.LabelSelectorRequirement key operator
            meta.ObjectMeta deletionGracePeriodSeconds
            meta.OwnerReference apiVersion kind name uid controller blockOwnerDeletion
            meta.Preconditions uid resourceVersion
            """;

    private static final Set<String> KEPT = parse();

    private KeptZeros() {}

    /** Whether a zero value of this scalar field is part of the object. */
    static boolean has(FieldDescriptor field) {
        // The package ends with the group and the version, such as k8s.io.api.core.v1.
        String[] parts = field.getFile().getPackage().split("\\.");
        String group = parts.length < 2 ? "" : parts[parts.length - 2];
        return KEPT.contains(group + "." + field.getContainingType().getName() + "." + field.getName());
    }

    private static Set<String> parse() {
        Set<String> kept = new HashSet<>();
        LISTED.lines().forEach(line -> {
            String[] words = line.split(" ");
            Arrays.stream(words).skip(1).forEach(field -> kept.add(words[0] + "." + field));
        });
        return kept;
    }
}
