package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** The columns of requests for certificates in {@code kubectl get}. */
public final class CertificateTables {
    public static final Table REQUESTS = new Table(List.of(
            Tables.name(),
            Tables.age(),
            Tables.column("SignerName", request -> request.object("spec").text("signerName")),
            Tables.column("Requestor", request -> request.object("spec").text("username")),
            Tables.column("RequestedDuration", CertificateTables::duration),
            Tables.column("Condition", CertificateTables::condition)));

    private CertificateTables() {}

    private static String duration(JsonObject request) {
        return request.object("spec")
                .number("expirationSeconds")
                .map(seconds -> GoDuration.format(Duration.ofSeconds(seconds)))
                .orElse("<none>");
    }

    private static String condition(JsonObject request) {
        JsonObject status = request.object("status");
        List<String> types = status.array("conditions")
                .objects()
                .map(condition -> condition.text("type"))
                .toList();
        String approval = types.contains("Denied") ? "Denied" : types.contains("Approved") ? "Approved" : "";
        String others = types.stream()
                .filter(type -> !type.equals("Approved") && !type.equals("Denied"))
                .collect(Collectors.joining(","));
        String text = String.join(
                ",",
                List.of(approval, others, status.text("certificate").isEmpty() ? "" : "Issued").stream()
                        .filter(part -> !part.isEmpty())
                        .toList());
        return text.isEmpty() ? "Pending" : text;
    }
}
