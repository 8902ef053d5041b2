package io.nodekeeper.cli.options;

import io.nodekeeper.api.GateSwitches;
import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The value of {@code --feature-gates}. Each command has its own flag: {@code up} has one for all that it runs.
 *
 * @param text as it was given
 * @param known the gates of all components that the command runs
 */
public record GateOptions(String text, List<String> known) implements Checked {
    /** Name → enabled. Call it only after {@link #check} found no fault. */
    public Map<String, Boolean> switches() {
        return GateSwitches.parse(text, known, new ArrayList<>());
    }

    @Override
    public void check(Faults faults) {
        List<String> found = new ArrayList<>();
        GateSwitches.parse(text, known, found);
        found.forEach(fault -> faults.require(false, fault));
    }
}
