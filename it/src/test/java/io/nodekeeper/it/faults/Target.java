package io.nodekeeper.it.faults;

import io.nodekeeper.it.Gate;
import java.io.IOException;
import java.util.Optional;

/** A command of the runtime that a fault may hit, and how to make the runtime run it. */
enum Target {
    RUNC_EXEC(Layer.RUNC, "exec", "runc exec") {
        @Override
        String selector(Scene scene) {
            return scene.victim().container();
        }

        @Override
        void trigger(Scene scene) {
            scene.execInVictim();
        }
    },
    RUNC_KILL(Layer.RUNC, "kill", "runc kill") {
        @Override
        String selector(Scene scene) {
            return scene.victim().container();
        }

        @Override
        void trigger(Scene scene) {
            scene.stopVictim();
        }
    },
    RUNC_CREATE(Layer.RUNC, "create", "runc create") {
        @Override
        String selector(Scene scene) {
            // The id is not known before.
            return "";
        }

        @Override
        void trigger(Scene scene) {
            scene.startNewcomer();
        }
    },
    CNI_ADD(Layer.CNI_PLUGIN, "ADD", "CNI ADD") {
        @Override
        String selector(Scene scene) {
            return "K8S_POD_NAME=" + scene.newcomerName();
        }

        @Override
        void trigger(Scene scene) {
            scene.startNewcomer();
        }
    },
    CNI_DEL(Layer.CNI_PLUGIN, "DEL", "CNI DEL") {
        @Override
        String selector(Scene scene) {
            return "K8S_POD_NAME=" + scene.victim().name();
        }

        @Override
        void trigger(Scene scene) {
            scene.stopVictim();
        }
    },
    CNI_CHILD(Layer.CNI_CHILD, "ADD", "a child of CNI ADD") {
        @Override
        String selector(Scene scene) {
            return CNI_ADD.selector(scene);
        }

        @Override
        void trigger(Scene scene) {
            scene.startNewcomer();
        }
    };

    private final Layer layer;
    private final String command;
    private final String text;

    Target(Layer layer, String command, String text) {
        this.layer = layer;
        this.command = command;
        this.text = text;
    }

    Layer layer() {
        return layer;
    }

    String text() {
        return text;
    }

    /** Two faults do not share a command. */
    String slot() {
        return command;
    }

    /** The pod that the command is about. */
    Optional<String> pod(Scene scene) {
        return Optional.of(hitsVictim() ? scene.victimName() : scene.newcomerName());
    }

    /** Whether the command is about a pod that exists before, and not about a new one. */
    boolean hitsVictim() {
        return endsVictim() || this == RUNC_EXEC;
    }

    boolean endsVictim() {
        return this == RUNC_KILL || this == CNI_DEL;
    }

    /** Whether it is a CNI plugin or its child. */
    boolean cni() {
        return layer != Layer.RUNC;
    }

    /** From now on the command runs {@code shell} before its work, or a child of it does. */
    void hook(Scene scene, String shell) throws IOException {
        gate(scene).hook(command, selector(scene), shell);
    }

    void unhook(Scene scene) throws IOException {
        gate(scene).unhook(command);
    }

    private Gate gate(Scene scene) {
        return cni() ? scene.containerd().cni() : scene.containerd().runc();
    }

    /** A word that only the commands about the scene's pod have in their arguments. */
    abstract String selector(Scene scene);

    /** Makes the runtime run the command, in the background. */
    abstract void trigger(Scene scene);
}
