package io.nodekeeper.apiserver.catalogue;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.apiserver.kinds.CertificateRequestStrategy;
import io.nodekeeper.apiserver.printers.CertificateTables;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.registry.Subresource;
import java.util.List;
import java.util.Map;

/** Requests for certificates, as in Kubernetes. */
public final class CertificateResources {
    public static final String GROUP = "certificates.k8s.io";

    public static final Resource REQUESTS = Resource.stored(
                    new ResourceType(GROUP, "v1", "certificatesigningrequests", "CertificateSigningRequest", false),
                    "certificatesigningrequests")
            .shortNames("csr")
            .subresources(
                    Subresource.status("CertificateSigningRequest"),
                    new Subresource("approval", "", "", "CertificateSigningRequest", List.of("get", "patch", "update")))
            .strategy(new CertificateRequestStrategy())
            .fields(Map.of("spec.signerName", request -> request.object("spec").text("signerName")))
            .table(CertificateTables.REQUESTS);

    static final List<Resource> ALL = List.of(REQUESTS);

    private CertificateResources() {}
}
