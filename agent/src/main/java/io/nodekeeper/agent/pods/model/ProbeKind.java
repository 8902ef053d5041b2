package io.nodekeeper.agent.pods.model;

/** The kinds of probes of a container. */
public enum ProbeKind {
    /** Whether the container has started; the other kinds wait for it. */
    STARTUP("startupProbe", "Startup"),
    /** Whether the container must be started again. */
    LIVENESS("livenessProbe", "Liveness"),
    /** Whether the container may get traffic. */
    READINESS("readinessProbe", "Readiness");

    private final String field;
    private final String text;

    ProbeKind(String field, String text) {
        this.field = field;
        this.text = text;
    }

    /** Its field in a container. */
    public String field() {
        return field;
    }

    /** Its name in events and metrics. */
    public String text() {
        return text;
    }
}
