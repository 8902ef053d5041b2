package io.nodekeeper.cri.config;

/**
 * A profile of the kernel that confines a container: of seccomp, which filters system calls, or of AppArmor. Immutable.
 *
 * @param type whose profile it is
 * @param reference of a profile of the node: for seccomp the path of its file, for AppArmor its name; empty for others
 */
public record SecurityProfile(Type type, String reference) {
    /** The runtime's own profile. */
    public static final SecurityProfile RUNTIME_DEFAULT = new SecurityProfile(Type.RUNTIME_DEFAULT, "");
    /** No profile. */
    public static final SecurityProfile UNCONFINED = new SecurityProfile(Type.UNCONFINED, "");

    /** Whose profile it is. In the order of CRI's numbers. */
    public enum Type {
        /** The runtime's. */
        RUNTIME_DEFAULT,
        /** There is none. */
        UNCONFINED,
        /** One of the node. */
        LOCALHOST
    }

    /** A profile of the node. */
    public static SecurityProfile localhost(String reference) {
        return new SecurityProfile(Type.LOCALHOST, reference);
    }
}
