package io.nodekeeper.agent.pods.sync;

/** The kubelet's reasons of containers that wait. */
public final class Reasons {
    /** The container is being created, or waits for the pod's volumes or sandbox. */
    public static final String CONTAINER_CREATING = "ContainerCreating";
    /** The last pull of its image failed. */
    public static final String ERR_IMAGE_PULL = "ErrImagePull";
    /** The next pull of its image waits. */
    public static final String IMAGE_PULL_BACK_OFF = "ImagePullBackOff";
    /** Its image may not be pulled, and the node does not have it. */
    public static final String ERR_IMAGE_NEVER_PULL = "ErrImageNeverPull";
    /** Its next start waits because it ended before. */
    public static final String CRASH_LOOP_BACK_OFF = "CrashLoopBackOff";
    /** Something that it refers to is missing or wrong. */
    public static final String CREATE_CONTAINER_CONFIG_ERROR = "CreateContainerConfigError";
    /** The runtime could not create it. */
    public static final String CREATE_CONTAINER_ERROR = "CreateContainerError";
    /** The runtime could not start it. */
    public static final String RUN_CONTAINER_ERROR = "RunContainerError";
    /** Init containers of the pod have not ended yet. */
    public static final String POD_INITIALIZING = "PodInitializing";
    /** Its hook after the start failed. */
    public static final String POST_START_HOOK_ERROR = "PostStartHookError";
    /** The pod asks for something that this agent does not do. Not one of the kubelet's. */
    public static final String UNSUPPORTED_FIELD = "UnsupportedField";

    private Reasons() {}
}
