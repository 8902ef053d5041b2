package io.nodekeeper.agent.certificates;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.Pem;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * A CertificateSigningRequest that waits for its certificate. Immutable.
 *
 * @param name its name in the API
 * @param key that the certificate is for
 * @param names that the certificate is for
 * @param since when it was made, ns of the monotonic clock
 */
record SigningRequest(String name, KeyPair key, ServingNames names, long since) {
    static final ResourceType TYPE = new ResourceType(
            "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", false);
    /** How long a request may stay undecided, as in a kubelet; then there is a new one. */
    static final Duration PATIENCE = Duration.ofMinutes(15);
    /** Younger requests are looked at more often. */
    private static final Duration YOUTH = Duration.ofMinutes(1);

    /** What the API says about a request. */
    sealed interface Answer {
        /** It is not approved, or not signed yet. */
        record Undecided() implements Answer {}

        /** It leads to no certificate that can be used. */
        record Refused(String why) implements Answer {}

        /** It is signed. */
        record Issued(Identity identity) implements Answer {}
    }

    /** The object to create for a certificate of {@code user} for {@code key} and {@code names}. */
    static JsonObject body(Purpose purpose, String user, KeyPair key, ServingNames names) {
        String pem = CertificateRequest.sign(key, user, "system:nodes", names.dnsNames(), names.addresses());
        return JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.builder().put("generateName", "csr-").build())
                .put(
                        "spec",
                        JsonObject.builder()
                                .put(
                                        "request",
                                        Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII)))
                                .put("signerName", purpose.signer())
                                .put("usages", JsonArray.ofStrings(List.of("digital signature", purpose.usage())))
                                .build())
                .build();
    }

    /** Whether it was made less than a minute before {@code now}. */
    boolean isYoung(long now) {
        return now - since < YOUTH.toNanos();
    }

    /** Whether it has been undecided for too long at {@code now}. */
    boolean isOverdue(long now) {
        return now - since > PATIENCE.toNanos();
    }

    /** What {@code object}, this request as the API has it now, says. */
    Answer answer(JsonObject object) {
        JsonObject status = object.object("status");
        Optional<JsonObject> refusal = status.array("conditions")
                .objects()
                .filter(condition -> List.of("Denied", "Failed").contains(condition.text("type")))
                .findFirst();
        if (refusal.isPresent()) {
            return new Answer.Refused(
                    "the request " + name + " is " + refusal.get().text("type") + ": "
                            + refusal.get().text("reason") + " " + refusal.get().text("message"));
        }
        String issued = status.text("certificate");
        if (issued.isEmpty()) {
            return new Answer.Undecided();
        }
        try {
            return new Answer.Issued(identity(issued));
        } catch (IllegalArgumentException e) {
            return new Answer.Refused("the certificate of the request " + name + " cannot be used: " + e.getMessage());
        }
    }

    private Identity identity(String issued) {
        List<X509Certificate> chain =
                Pem.certificates(new String(Base64.getDecoder().decode(issued), StandardCharsets.ISO_8859_1));
        if (!chain.getFirst().getPublicKey().equals(key.getPublic())) {
            throw new IllegalArgumentException("it is for another key");
        }
        return new Identity(key.getPrivate(), chain);
    }
}
