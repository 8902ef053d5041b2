package io.nodekeeper.agent.pods.security;

import java.util.Optional;

/** A machine whose abilities a test sets. */
public final class SimulatedSupport implements SecurityAdmission.Support {
    /** See {@link #appArmor()}. */
    public boolean hasAppArmor;
    /** See {@link #strictGroups()}. */
    public Optional<Boolean> hasStrictGroups = Optional.of(false);

    @Override
    public boolean appArmor() {
        return hasAppArmor;
    }

    @Override
    public Optional<Boolean> strictGroups() {
        return hasStrictGroups;
    }
}
