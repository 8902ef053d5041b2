package io.nodekeeper.agent.facts;

/** The devices of plugins, as the Node shows them; read on the agent's loop. */
public interface NodeDevices {
    /** An agent that manages no devices; the API keeps what it says about them. */
    NodeDevices NONE = new NodeDevices() {
        @Override
        public DeviceCapacity capacity() {
            return DeviceCapacity.NONE;
        }

        @Override
        public boolean hasCheckpoint() {
            return true;
        }
    };

    /** The devices now. */
    DeviceCapacity capacity();

    /** Whether an agent has kept devices on this machine before; without it the machine is new to the Node. */
    boolean hasCheckpoint();
}
