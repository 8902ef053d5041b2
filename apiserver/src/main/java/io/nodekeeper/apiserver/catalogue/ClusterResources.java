package io.nodekeeper.apiserver.catalogue;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.kinds.ConfigMapStrategy;
import io.nodekeeper.apiserver.kinds.CsiDriverStrategy;
import io.nodekeeper.apiserver.kinds.CsiNodeStrategy;
import io.nodekeeper.apiserver.kinds.DisruptionBudgetStrategy;
import io.nodekeeper.apiserver.kinds.NetworkPolicyStrategy;
import io.nodekeeper.apiserver.kinds.NewEventStrategy;
import io.nodekeeper.apiserver.kinds.PriorityClassStrategy;
import io.nodekeeper.apiserver.kinds.RuntimeClassStrategy;
import io.nodekeeper.apiserver.kinds.SecretStrategy;
import io.nodekeeper.apiserver.kinds.ServiceStrategy;
import io.nodekeeper.apiserver.kinds.VolumeAttachmentStrategy;
import io.nodekeeper.apiserver.kinds.WebhookConfigurationStrategy;
import io.nodekeeper.apiserver.kinds.access.ServiceAccountStrategy;
import io.nodekeeper.apiserver.kinds.workloads.DaemonSetStrategy;
import io.nodekeeper.apiserver.kinds.workloads.DeploymentStrategy;
import io.nodekeeper.apiserver.printers.ClusterTables;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.registry.Subresource;
import io.nodekeeper.apiserver.storage.EventCodec;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Further resources that kubelets and kube-controller-managers list at their start, and those that the manifests in {@code
 * deploy} contain, as in Kubernetes.
 */
public final class ClusterResources {
    public static final Resource SERVICE_ACCOUNTS = Resource.stored(
                    new ResourceType("", "v1", "serviceaccounts", "ServiceAccount", true), "serviceaccounts")
            .strategy(new ServiceAccountStrategy())
            .shortNames("sa")
            .subresources(Subresource.action("token", "authentication.k8s.io", "v1", "TokenRequest"))
            .table(ClusterTables.SERVICE_ACCOUNTS);

    public static final Resource SECRETS = Resource.stored(
                    new ResourceType("", "v1", "secrets", "Secret", true), "secrets")
            .strategy(new SecretStrategy())
            .fields(Map.of("type", secret -> secret.text("type")))
            .table(ClusterTables.SECRETS);

    public static final Resource CONFIG_MAPS = Resource.stored(
                    new ResourceType("", "v1", "configmaps", "ConfigMap", true), "configmaps")
            .shortNames("cm")
            .strategy(new ConfigMapStrategy())
            .table(ClusterTables.CONFIG_MAPS);

    static final Resource SERVICES = Resource.stored(
                    new ResourceType("", "v1", "services", "Service", true), "services/specs")
            .shortNames("svc")
            .categories("all")
            .subresources(Subresource.status("Service"))
            .strategy(new ServiceStrategy())
            .fields(Map.of(
                    "spec.clusterIP",
                    service -> service.object("spec").text("clusterIP"),
                    "spec.type",
                    service -> service.object("spec").text("type")))
            .table(ClusterTables.SERVICES);

    static final Resource DAEMON_SETS = Resource.stored(
                    new ResourceType("apps", "v1", "daemonsets", "DaemonSet", true), "daemonsets")
            .shortNames("ds")
            .categories("all")
            .subresources(Subresource.status("DaemonSet"))
            .strategy(new DaemonSetStrategy())
            .table(ClusterTables.DAEMON_SETS);

    /** A subresource {@code scale} is missing: nothing here scales. */
    static final Resource DEPLOYMENTS = Resource.stored(
                    new ResourceType("apps", "v1", "deployments", "Deployment", true), "deployments")
            .shortNames("deploy")
            .categories("all")
            .subresources(Subresource.status("Deployment"))
            .strategy(new DeploymentStrategy())
            .table(ClusterTables.DEPLOYMENTS);

    static final Resource NETWORK_POLICIES = Resource.stored(
                    new ResourceType("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", true),
                    "networkpolicies")
            .shortNames("netpol")
            .strategy(new NetworkPolicyStrategy())
            .table(ClusterTables.NETWORK_POLICIES);

    static final Resource VALIDATING_WEBHOOK_CONFIGURATIONS = Resource.stored(
                    new ResourceType(
                            "admissionregistration.k8s.io",
                            "v1",
                            "validatingwebhookconfigurations",
                            "ValidatingWebhookConfiguration",
                            false),
                    "validatingwebhookconfigurations")
            .categories("api-extensions")
            .strategy(new WebhookConfigurationStrategy())
            .table(ClusterTables.VALIDATING_WEBHOOK_CONFIGURATIONS);

    static final Resource CSI_NODES = Resource.stored(
                    new ResourceType("storage.k8s.io", "v1", "csinodes", "CSINode", false), "csinodes")
            .strategy(new CsiNodeStrategy())
            .table(ClusterTables.CSI_NODES);

    static final Resource CSI_DRIVERS = Resource.stored(
                    new ResourceType("storage.k8s.io", "v1", "csidrivers", "CSIDriver", false), "csidrivers")
            .strategy(new CsiDriverStrategy())
            .table(ClusterTables.CSI_DRIVERS);

    public static final Resource VOLUME_ATTACHMENTS = Resource.stored(
                    new ResourceType("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", false),
                    "volumeattachments")
            .subresources(Subresource.status("VolumeAttachment"))
            .strategy(new VolumeAttachmentStrategy())
            .table(ClusterTables.VOLUME_ATTACHMENTS);

    public static final Resource RUNTIME_CLASSES = Resource.stored(
                    new ResourceType("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false), "runtimeclasses")
            .strategy(new RuntimeClassStrategy())
            .table(ClusterTables.RUNTIME_CLASSES);

    public static final Resource PRIORITY_CLASSES = Resource.stored(
                    new ResourceType("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", false),
                    "priorityclasses")
            .shortNames("pc")
            .strategy(new PriorityClassStrategy())
            .table(ClusterTables.PRIORITY_CLASSES);

    public static final Resource POD_DISRUPTION_BUDGETS = Resource.stored(
                    new ResourceType("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true),
                    "poddisruptionbudgets")
            .shortNames("pdb")
            .subresources(Subresource.status("PodDisruptionBudget"))
            .strategy(new DisruptionBudgetStrategy())
            .table(ClusterTables.POD_DISRUPTION_BUDGETS);

    private static final ResourceType NEW_EVENT = new ResourceType("events.k8s.io", "v1", "events", "Event", true);

    /** The events of {@link Resources#EVENTS} in their newer API. */
    static final Resource NEW_EVENTS = Resource.stored(NEW_EVENT, "events")
            .codec(new EventCodec(NEW_EVENT))
            .shortNames("ev")
            .strategy(new NewEventStrategy())
            .fields(Map.ofEntries(
                    regarding("kind"),
                    regarding("namespace"),
                    regarding("name"),
                    regarding("uid"),
                    regarding("apiVersion"),
                    regarding("resourceVersion"),
                    regarding("fieldPath"),
                    Map.entry("reason", event -> event.text("reason")),
                    Map.entry("reportingController", event -> event.text("reportingController")),
                    Map.entry("type", event -> event.text("type"))))
            .table(ClusterTables.NEW_EVENTS);

    /** The older API to bind a pod, whose name is in the body. */
    public static final Resource BINDINGS = Resource.asked(new ResourceType("", "v1", "bindings", "Binding", true));

    static final List<Resource> ALL = List.of(
            BINDINGS,
            SERVICE_ACCOUNTS,
            SECRETS,
            CONFIG_MAPS,
            SERVICES,
            DAEMON_SETS,
            DEPLOYMENTS,
            NETWORK_POLICIES,
            VALIDATING_WEBHOOK_CONFIGURATIONS,
            CSI_NODES,
            CSI_DRIVERS,
            VOLUME_ATTACHMENTS,
            RUNTIME_CLASSES,
            PRIORITY_CLASSES,
            POD_DISRUPTION_BUDGETS,
            NEW_EVENTS);

    private ClusterResources() {}

    private static Map.Entry<String, Function<JsonObject, String>> regarding(String field) {
        return Map.entry(
                "regarding." + field, event -> event.object("regarding").text(field));
    }
}
