package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.apiserver.registry.Strategy;
import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.client.config.Pem;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/** The rules of CertificateSigningRequests: a spec that never changes, an approval that is final, one certificate. */
public final class CertificateRequestStrategy implements Strategy {
    /** Kubernetes' shortest life of a certificate in seconds. */
    private static final int SHORTEST = 600;

    /** The most characters of a signer's name, and of its domain (Kubernetes' limits). */
    private static final int SIGNER = 571;

    private static final int DOMAIN = 253;

    private static final Set<String> APPROVALS = Set.of("Approved", "Denied");
    private static final Set<String> USAGES = Set.of(
            "signing",
            "digital signature",
            "content commitment",
            "key encipherment",
            "key agreement",
            "data encipherment",
            "cert sign",
            "crl sign",
            "encipher only",
            "decipher only",
            "any",
            "server auth",
            "client auth",
            "code signing",
            "email protection",
            "s/mime",
            "ipsec end system",
            "ipsec tunnel",
            "ipsec user",
            "timestamping",
            "ocsp signing",
            "microsoft sgc",
            "netscape sgc");

    /**
     * The request in {@code object}. IllegalArgumentException if it is none. Its signature is not checked: that takes long, and the
     * creation of the object does it.
     */
    public static CertificateRequest request(JsonObject object) {
        return CertificateRequest.parseUnchecked(text(object.object("spec").text("request")));
    }

    /** The same after a check of its signature, for which a worker has time. */
    public static CertificateRequest checkedRequest(JsonObject object) {
        return CertificateRequest.parse(text(object.object("spec").text("request")));
    }

    private static String text(String base64) {
        return new String(Base64.getDecoder().decode(base64), StandardCharsets.ISO_8859_1);
    }

    /** Whether a condition of {@code type} is True. */
    public static boolean is(JsonObject object, String type) {
        return object.object("status")
                .array("conditions")
                .objects()
                .anyMatch(condition -> condition.text("type").equals(type));
    }

    /** What a write of the subresource {@code approval} stores: the conditions only, and no issued certificate. */
    public static JsonObject approved(JsonObject asked, JsonObject old) {
        return old.with("metadata", asked.object("metadata"))
                .update(
                        "status",
                        status ->
                                status.with("conditions", asked.object("status").array("conditions")));
    }

    /** What a write of the status stores: the approval stays as it was. */
    public static JsonObject withOldApproval(JsonObject asked, JsonObject old) {
        JsonObject[] conditions =
                Stream.concat(conditions(old, true), conditions(asked, false)).toArray(JsonObject[]::new);
        if (conditions.length > 0) {
            return asked.update("status", status -> status.with("conditions", JsonArray.of(conditions)));
        }
        return asked.object("status").has("conditions")
                ? asked.update("status", status -> status.without("conditions"))
                : asked;
    }

    private static Stream<JsonObject> conditions(JsonObject object, boolean approvals) {
        return object.object("status")
                .array("conditions")
                .objects()
                .filter(condition -> APPROVALS.contains(condition.text("type")) == approvals);
    }

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return object.without("status");
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        JsonArray conditions = object.object("status").array("conditions");
        if (conditions.isEmpty()) {
            return object;
        }
        JsonArray complete = JsonArray.of(conditions
                .objects()
                .map(condition -> condition.has("lastTransitionTime") || !condition.has("lastUpdateTime")
                        ? condition
                        : condition.with("lastTransitionTime", condition.text("lastUpdateTime")))
                .toArray(JsonObject[]::new));
        return object.update("status", status -> status.with("conditions", complete));
    }

    @Override
    public List<FieldError> validateCreate(JsonObject object) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = object.object("spec");
        if (spec.text("request").isEmpty()) {
            errors.add(FieldError.required("spec.request", ""));
        } else {
            try {
                checkedRequest(object);
            } catch (IllegalArgumentException e) {
                errors.add(FieldError.invalid(
                        "spec.request", quoted(spec.text("request")), String.valueOf(e.getMessage())));
            }
        }
        List<String> usages = spec.array("usages").strings().toList();
        if (usages.isEmpty()) {
            errors.add(FieldError.required("spec.usages", ""));
        }
        usages.stream()
                .filter(usage -> !USAGES.contains(usage))
                .forEach(usage -> errors.add(FieldError.notSupported(
                        "spec.usages", quoted(usage), String.join(", ", new TreeSet<>(USAGES)))));
        signer(spec.text("signerName"), errors);
        spec.number("expirationSeconds")
                .filter(seconds -> seconds < SHORTEST)
                .ifPresent(seconds -> errors.add(FieldError.invalid(
                        "spec.expirationSeconds",
                        seconds.toString(),
                        "may not specify a duration less than 600 seconds (10 minutes)")));
        return errors;
    }

    private static String quoted(String value) {
        return '"' + value + '"';
    }

    private static void signer(String name, List<FieldError> errors) {
        if (name.isEmpty()) {
            errors.add(FieldError.required("spec.signerName", ""));
            return;
        }
        if (name.length() > SIGNER) {
            errors.add(FieldError.tooLong("spec.signerName", SIGNER + " bytes"));
            return;
        }
        String[] segments = name.split("/", -1);
        if (segments.length != 2) {
            errors.add(FieldError.invalid(
                    "spec.signerName",
                    quoted(name),
                    "must be a fully qualified domain and path of the form 'example.com/signer-name'"));
            return;
        }
        if (segments[0].length() > DOMAIN) {
            errors.add(FieldError.tooLong("spec.signerName", DOMAIN + " bytes"));
        }
        parts(segments[0], Names::labelFault, errors);
        if (!segments[0].contains(".")) {
            errors.add(FieldError.invalid(
                    "spec.signerName",
                    quoted(segments[0]),
                    "should be a domain with at least two segments separated by dots"));
        }
        parts(segments[1], Names::subdomainFault, errors);
        if (name.equals("kubernetes.io/legacy-unknown")) {
            errors.add(FieldError.invalid(
                    "spec.signerName", quoted(name), "the legacy signerName is not allowed via this API version"));
        }
    }

    /** Adds the fault of the first part of {@code segment}, between its dots, that has one. */
    private static void parts(String segment, Function<String, Optional<String>> faultOf, List<FieldError> errors) {
        Stream.of(segment.split("\\.", -1))
                .flatMap(part ->
                        faultOf.apply(part).stream().map(fault -> "validating label " + quoted(part) + ": " + fault))
                .findFirst()
                .ifPresent(why -> errors.add(FieldError.invalid("spec.signerName", quoted(segment), why)));
    }

    @Override
    public List<FieldError> validate(JsonObject object) {
        List<FieldError> errors = new ArrayList<>();
        if (is(object, "Approved") && is(object, "Denied")) {
            errors.add(FieldError.invalid(
                    "status.conditions", "Denied", "Approved and Denied conditions are mutually exclusive"));
        }
        long types = object.object("status")
                .array("conditions")
                .objects()
                .map(condition -> condition.text("type"))
                .distinct()
                .count();
        if (types < object.object("status").array("conditions").items().size()) {
            errors.add(FieldError.duplicate("status.conditions", "type"));
        }
        object.object("status").array("conditions").objects().forEach(condition -> {
            boolean approval = APPROVALS.contains(condition.text("type"))
                    || condition.text("type").equals("Failed");
            if (approval && !condition.text("status").equals("True")) {
                errors.add(FieldError.invalid(
                        "status.conditions",
                        quoted(condition.text("status")),
                        "must be \"True\" for " + condition.text("type")));
            }
        });
        return errors;
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject object, JsonObject old) {
        List<FieldError> errors = new ArrayList<>();
        if (!object.object("spec").equals(old.object("spec"))) {
            errors.add(FieldError.invalid("spec", object.object("spec").toString(), "field is immutable"));
        }
        for (String type : List.of("Approved", "Denied", "Failed")) {
            if (is(old, type) && !is(object, type)) {
                errors.add(FieldError.forbidden(
                        "status.conditions", "updates may not remove a condition of type \"" + type + "\""));
            }
        }
        String before = old.object("status").text("certificate");
        String after = object.object("status").text("certificate");
        if (!before.isEmpty() && !before.equals(after)) {
            errors.add(FieldError.forbidden(
                    "status.certificate",
                    "updates may not set certificate content if existing certificate content is" + " present"));
        } else if (!after.isEmpty() && before.isEmpty()) {
            certificate(after, errors);
        }
        return errors;
    }

    private static void certificate(String base64, List<FieldError> errors) {
        try {
            Pem.certificates(text(base64));
        } catch (IllegalArgumentException e) {
            errors.add(FieldError.invalid("status.certificate", "<certificate data>", String.valueOf(e.getMessage())));
        }
    }

    /** A certificate in PEM as the status has it. */
    public static JsonString encoded(String pem) {
        return new JsonString(Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII)));
    }
}
