package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.List;

/** The columns of requests for certificates in {@code kubectl get}. */
public final class CertificateTables {
    public static final Table REQUESTS = new Table(List.of(
            Tables.name(),
            Tables.age(),
            Tables.column(
                    "SignerName",
                    request -> CellText.orNone(request.object("spec").text("signerName"))),
            Tables.column("Requestor", request -> request.object("spec").text("username")),
            Tables.column("RequestedDuration", CertificateTables::duration),
            Tables.column("Condition", CertificateTables::condition)));

    private CertificateTables() {}

    private static String duration(JsonObject request) {
        return request.object("spec")
                .number("expirationSeconds")
                .map(seconds -> CellText.age(Duration.ofSeconds(seconds)))
                .orElse("<none>");
    }

    /** The decision, then whether the signer has failed or answered. Conditions of other types do not show. */
    private static String condition(JsonObject request) {
        JsonObject status = request.object("status");
        List<String> types = status.array("conditions")
                .objects()
                .map(condition -> condition.text("type"))
                .toList();
        String decision = types.contains("Denied") ? "Denied" : types.contains("Approved") ? "Approved" : "Pending";
        return decision
                + (types.contains("Failed") ? ",Failed" : "")
                + (status.text("certificate").isEmpty() ? "" : ",Issued");
    }
}
