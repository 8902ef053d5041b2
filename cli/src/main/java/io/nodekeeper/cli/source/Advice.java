package io.nodekeeper.cli.source;

import io.nodekeeper.api.Failures;
import io.nodekeeper.time.DeadlineExceededException;

/** What a person can do if pages are refused. Stateless. */
final class Advice {
    private static final String ROLE = "the ClusterRole nodekeeper-pages-reader (kubectl apply -k deploy/pages)";
    /** The way around the API server's proxy. */
    private static final String FORWARD =
            "use kubectl port-forward and --server https://127.0.0.1:PORT with --token-file";
    /** Silence behind the proxy is usually a network plugin that enforces the policy of the pods. */
    private static final String POLICY =
            "; the NetworkPolicy of its pods must admit the API servers (docs/exposed-pages.md); else " + FORWARD;

    private Advice() {}

    /** For the answer {@code status} of pages that were asked directly; empty for other answers. */
    static String direct(int status) {
        return switch (status) {
            case 401 ->
                "; expected credentials of a user with " + ROLE
                        + ": --token-file FILE, or --client-certificate and --client-key";
            case 403 ->
                "; bind " + ROLE + " to that user: kubectl create clusterrolebinding NAME"
                        + " --clusterrole=nodekeeper-pages-reader --user=USER";
            default -> "";
        };
    }

    /** The same through the API server's proxy, which decides about the Service and removes the credentials. */
    static String proxied(int status, String message) {
        if (status == 403 && message.contains("services/proxy")) {
            return "; that user needs a Role with the verb get for services/proxy in the namespace of the Service";
        }
        if (status == 401 || status == 403) {
            return "; the proxy removes credentials, so the pages see system:anonymous: apply"
                    + " deploy/pages/through-proxy.yaml where a NetworkPolicy admits only the API servers and Prometheus"
                    + " to the pods (docs/exposed-pages.md), or " + FORWARD;
        }
        return status >= 500 && message.matches(".*trying to reach service.* (timeout|timed out).*") ? POLICY : "";
    }

    /** For a page that did not come through the proxy, with that failure. */
    static String proxied(Throwable error) {
        return Failures.cause(error) instanceof DeadlineExceededException ? POLICY : "";
    }

    /** For a connection that failed with that message. */
    static String connection(String message) {
        return message.contains("PKIX") || message.contains("certification path")
                ? "; --certificate-authority FILE names the authority of its certificate, --insecure-skip-tls-verify"
                        + " accepts any"
                : "";
    }
}
