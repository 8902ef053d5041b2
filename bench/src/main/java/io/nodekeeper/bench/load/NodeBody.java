package io.nodekeeper.bench.load;

/** A Node with the status that a kubelet posts. */
final class NodeBody {
    private static final String[] CONDITIONS = {
        "MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available",
        "DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure",
        "PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available",
        "Ready", "True", "KubeletReady", "kubelet is posting ready status"
    };
    private static final int IMAGES = 10;

    private NodeBody() {}

    static String uid(int node) {
        return "00000000-0000-4000-8000-%012d".formatted(node);
    }

    static String of(String name, int node) {
        StringBuilder body = new StringBuilder(4_096);
        body.append("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"")
                .append(name)
                .append("\",\"labels\":{");
        for (String label : new String[] {"beta.kubernetes.io/arch", "kubernetes.io/arch"}) {
            body.append('"').append(label).append("\":\"amd64\",");
        }
        for (String label : new String[] {"beta.kubernetes.io/os", "kubernetes.io/os"}) {
            body.append('"').append(label).append("\":\"linux\",");
        }
        body.append("\"kubernetes.io/hostname\":\"")
                .append(name)
                .append("\"},\"annotations\":{")
                .append("\"volumes.kubernetes.io/controller-managed-attach-detach\":\"true\"}},")
                .append("\"spec\":{\"podCIDR\":\"10.")
                .append(node >> 8 & 255)
                .append('.')
                .append(node & 255)
                .append(".0/24\"},\"status\":{");
        for (String amounts : new String[] {"capacity", "allocatable"}) {
            body.append('"')
                    .append(amounts)
                    .append("\":{\"cpu\":\"16\",\"ephemeral-storage\":\"102350Mi\",")
                    .append(
                            "\"hugepages-1Gi\":\"0\",\"hugepages-2Mi\":\"0\",\"memory\":\"65806372Ki\",\"pods\":\"110\"},");
        }
        body.append("\"conditions\":[");
        for (int i = 0; i < CONDITIONS.length; i += 4) {
            body.append(i == 0 ? "" : ",")
                    .append("{\"type\":\"")
                    .append(CONDITIONS[i])
                    .append("\",\"status\":\"")
                    .append(CONDITIONS[i + 1])
                    .append("\",\"lastHeartbeatTime\":\"2026-01-01T00:00:00Z\",")
                    .append("\"lastTransitionTime\":\"2026-01-01T00:00:00Z\",\"reason\":\"")
                    .append(CONDITIONS[i + 2])
                    .append("\",\"message\":\"")
                    .append(CONDITIONS[i + 3])
                    .append("\"}");
        }
        body.append("],\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"10.0.")
                .append(node >> 8 & 255)
                .append('.')
                .append(node & 255)
                .append("\"},{\"type\":\"Hostname\",\"address\":\"")
                .append(name)
                .append(
                        "\"}],\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":10250}},\"nodeInfo\":{\"machineID\":\"")
                .append(uid(node))
                .append("\",\"systemUUID\":\"")
                .append(uid(node))
                .append("\",\"bootID\":\"")
                .append(uid(node))
                .append("\",\"kernelVersion\":\"6.1.0-18-amd64\",\"osImage\":\"Debian GNU/Linux 12\",")
                .append("\"containerRuntimeVersion\":\"containerd://1.6.20\",\"kubeletVersion\":\"v1.32.0\",")
                .append(
                        "\"kubeProxyVersion\":\"v1.32.0\",\"operatingSystem\":\"linux\",\"architecture\":\"amd64\"},\"images\":[");
        for (int i = 0; i < IMAGES; i++) {
            body.append(i == 0 ? "" : ",")
                    .append("{\"names\":[\"registry.example.com/team-")
                    .append(i)
                    .append("/service@sha256:")
                    .append("0123456789abcdef".repeat(4))
                    .append("\",\"registry.example.com/team-")
                    .append(i)
                    .append("/service:v1.")
                    .append(i)
                    .append("\"],\"sizeBytes\":")
                    .append(50_000_000 + i)
                    .append('}');
        }
        return body.append("]}}").toString();
    }
}
