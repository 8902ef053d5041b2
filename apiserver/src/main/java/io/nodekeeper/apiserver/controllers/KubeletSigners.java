package io.nodekeeper.apiserver.controllers;

import io.nodekeeper.client.certificates.CertificateRequest;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What the two signers for kubelets sign, by the rules of kube-controller-manager. Pure. */
final class KubeletSigners {
    static final String SERVING = "kubernetes.io/kubelet-serving";
    static final String CLIENT = "kubernetes.io/kube-apiserver-client-kubelet";

    private static final String GROUP = "system:nodes";
    private static final String USER = "system:node:";

    private KubeletSigners() {}

    static boolean knows(String signer) {
        return signer.equals(SERVING) || signer.equals(CLIENT);
    }

    /** Why {@code signer} does not sign {@code request}; empty if it does. */
    static Optional<String> fault(String signer, CertificateRequest request, List<String> usages) {
        if (!request.organizations().equals(List.of(GROUP))) {
            return Optional.of("subject organization is not system:nodes");
        }
        if (!request.commonName().startsWith(USER)) {
            return Optional.of("subject common name does not begin with system:node:");
        }
        if (request.others()) {
            return Optional.of("email and URI subjectAltNames are not allowed");
        }
        boolean named = !request.dnsNames().isEmpty() || !request.addresses().isEmpty();
        if (signer.equals(SERVING) && !named) {
            return Optional.of("at least one of DNS or IP subjectAltName is required");
        }
        if (signer.equals(CLIENT) && named) {
            return Optional.of("DNS and IP subjectAltNames are not allowed");
        }
        String purpose = signer.equals(SERVING) ? "server auth" : "client auth";
        Set<String> asked = new HashSet<>(usages);
        asked.remove("key encipherment");
        return asked.equals(Set.of("digital signature", purpose))
                ? Optional.empty()
                : Optional.of("usages did not match [digital signature, " + purpose + "]");
    }
}
