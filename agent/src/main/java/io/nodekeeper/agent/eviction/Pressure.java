package io.nodekeeper.agent.eviction;

import io.nodekeeper.api.Condition;

/** A pressure condition of the node, with Kubernetes' reasons and messages. */
public enum Pressure {
    /** {@code MemoryPressure}. */
    MEMORY(
            Condition.MEMORY_PRESSURE,
            "KubeletHasInsufficientMemory",
            "kubelet has insufficient memory available",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available"),
    /** {@code DiskPressure}. */
    DISK(
            Condition.DISK_PRESSURE,
            "KubeletHasDiskPressure",
            "kubelet has disk pressure",
            "KubeletHasNoDiskPressure",
            "kubelet has no disk pressure"),
    /** {@code PIDPressure}. */
    PID(
            Condition.PID_PRESSURE,
            "KubeletHasInsufficientPID",
            "kubelet has insufficient PID available",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available");

    private final String condition;
    private final String reason;
    private final String message;
    private final String reliefReason;
    private final String reliefMessage;

    Pressure(String condition, String reason, String message, String reliefReason, String reliefMessage) {
        this.condition = condition;
        this.reason = reason;
        this.message = message;
        this.reliefReason = reliefReason;
        this.reliefMessage = reliefMessage;
    }

    /** The condition's type. */
    public String condition() {
        return condition;
    }

    /** The condition's reason while it is True, or while it is False. */
    public String reason(boolean present) {
        return present ? reason : reliefReason;
    }

    /** The condition's message while it is True, or while it is False. */
    public String message(boolean present) {
        return present ? message : reliefMessage;
    }

    /** The event's reason: as the condition's, but of the node. */
    public String event(boolean present) {
        return reason(present).replace("Kubelet", "Node");
    }
}
