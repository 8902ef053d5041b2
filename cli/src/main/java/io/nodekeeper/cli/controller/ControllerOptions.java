package io.nodekeeper.cli.controller;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.guard.GuardOptions;
import io.nodekeeper.cli.options.GateOptions;
import io.nodekeeper.cli.options.GivenFlags;
import io.nodekeeper.cli.pages.PagesOptions;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The flags of a controller, without those for its API server. Names and defaults are kube-controller-manager's. */
public final class ControllerOptions implements Checked {
    /** The gates and their purpose, for the help. */
    public static final class Gates extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        public Gates() {
            super(Arrays.stream(ControllerFeature.values())
                    .map(gate -> gate.text() + " (" + gate.purpose() + ")")
                    .toList());
        }
    }

    /** Whether the controller carries out its decisions. */
    public enum Mode {
        /** Carries them out. */
        enforce,
        /** Only reports them. */
        observe,
        /** Only reports them, and answers admission reviews of the writes of the cluster's own node controller. */
        guard
    }

    @Option(
            names = "--mode",
            paramLabel = "enforce|observe|guard",
            defaultValue = "enforce",
            description = "enforce carries out decisions. observe writes nothing: it reports what it would have done"
                    + " and when, and what the cluster's own controller did. guard does the same, and answers"
                    + " admission reviews: it refuses writes of the cluster's own controller that wrongly blame a node"
                    + " (see \"nodekeeper guard\"). Default: ${DEFAULT-VALUE}.")
    public Mode mode = Mode.enforce;

    /** The command sets it. */
    public GateOptions gates = new GateOptions("", ControllerFeature.names());

    /** The command makes them flags; those of {@code up} are the API server's. */
    public final PagesOptions pages = new PagesOptions();

    @Mixin
    public JudgementOptions judgement = new JudgementOptions();

    @Mixin
    ElectionOptions election = new ElectionOptions();

    @Mixin
    public GuardOptions guard = new GuardOptions();

    @Mixin
    public HistoryOptions history = new HistoryOptions();

    @Spec(Spec.Target.MIXEE)
    CommandSpec spec = CommandSpec.create();

    /** The controller's configuration. Call it only after {@link #check} found no fault. */
    public ControllerConfig config() {
        ControllerConfig config = judgement.config().with(FeatureGates.of(gates.switches()));
        return mode == Mode.enforce ? config : config.observing();
    }

    /** How to elect the leader; empty to work without an election. Without a flag, {@code byDefault} decides. */
    public Optional<LeaderElectionConfig> election(boolean byDefault) {
        boolean elect = election.elect.orElse(byDefault && mode == Mode.enforce);
        return elect ? Optional.of(election.config()) : Optional.empty();
    }

    @Override
    public void check(Faults faults) {
        judgement.check(faults);
        gates.check(faults);
        election.check(faults);
        faults.require(
                mode == Mode.enforce || !election.elect.orElse(false),
                "--leader-elect=true and --mode " + mode
                        + " exclude each other; expected --leader-elect=false, because"
                        + " an observer writes nothing, not even a lock");
        List<String> guards = GivenFlags.of(spec).stream()
                .filter(flag -> flag.startsWith(GuardOptions.PREFIX))
                .toList();
        faults.require(
                mode == Mode.guard || guards.isEmpty(),
                String.join(", ", guards) + ": expected only with --mode guard; --mode is " + mode);
        guard.check(faults);
        history.check(faults);
    }
}
