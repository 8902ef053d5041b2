package io.nodekeeper.apiserver.admission;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.Authorizer;
import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.catalogue.CertificateResources;
import io.nodekeeper.apiserver.kinds.CertificateRequestStrategy;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;

/**
 * Who may write which part of a request for a certificate: Kubernetes' admission plugins CertificateApproval,
 * CertificateSigning and CertificateSubjectRestriction. Thread-safe.
 */
public final class CertificateAdmission {
    private static final String CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";

    private final Authorizer authorizer;

    public CertificateAdmission(Authorizer authorizer) {
        this.authorizer = authorizer;
    }

    /** A new request with its author, whatever the body says. */
    public JsonObject admit(User user, Resource resource, RequestTarget target, JsonObject object) {
        if (!resource.equals(CertificateResources.REQUESTS)
                || !target.subresource().isEmpty()) {
            return object;
        }
        return object.update("spec", spec -> {
            JsonObject own =
                    spec.without("username").without("uid").without("groups").without("extra");
            for (var field : user.toUserInfo().fields().entrySet()) {
                own = own.with(field.getKey(), field.getValue());
            }
            return own;
        });
    }

    /** Refuses a write that its user may not do; {@code old} is empty for a creation. */
    public void check(User user, Resource resource, RequestTarget target, JsonObject old, JsonObject next) {
        if (!resource.equals(CertificateResources.REQUESTS) || old == next) {
            return;
        }
        String signer = next.object("spec").text("signerName");
        if (old.isEmpty()) {
            if (signer.equals(CLIENT_SIGNER) && organizations(next)) {
                throw forbidden(next, "use of " + CLIENT_SIGNER + " signer with system:masters group is not allowed");
            }
        } else if (target.subresource().equals("approval")) {
            require(
                    user,
                    "approve",
                    signer,
                    next,
                    "user not permitted to approve requests with signerName \"" + signer + "\"");
        } else if (target.subresource().equals("status")
                && !old.object("status").equals(next.object("status"))) {
            require(
                    user,
                    "sign",
                    signer,
                    next,
                    "user not permitted to sign requests with signerName \"" + signer + "\"");
        }
    }

    private static boolean organizations(JsonObject request) {
        try {
            return CertificateRequestStrategy.request(request).organizations().contains(User.MASTERS);
        } catch (IllegalArgumentException e) {
            // Validation refuses it.
            return false;
        }
    }

    private void require(User user, String verb, String signer, JsonObject request, String why) {
        String domain = signer.substring(0, Math.max(0, signer.indexOf('/'))) + "/*";
        if (!may(user, verb, signer) && !may(user, verb, domain)) {
            throw forbidden(request, why);
        }
    }

    private boolean may(User user, String verb, String signer) {
        return authorizer
                .decide(Attributes.ofResource(
                        user.name(), user.groups(), verb, CertificateResources.GROUP, "signers", "", signer))
                .allowed();
    }

    private static ApiException forbidden(JsonObject request, String why) {
        return ApiException.forbidden(
                CertificateResources.REQUESTS.type(), request.object("metadata").text("name"), why);
    }
}
