package io.nodekeeper.cli.apiserver;

import io.nodekeeper.apiserver.catalogue.StoredResources;
import io.nodekeeper.apiserver.encryption.EncryptionConfiguration;
import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.files.FileErrors;
import io.nodekeeper.client.files.SmallFiles;
import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.time.Randoms;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flag for the encryption of stored values, with kube-apiserver's name. */
public final class EncryptionOptions implements Checked {
    private static final String FLAG = "--encryption-provider-config";

    @Option(
            names = FLAG,
            paramLabel = "FILE",
            description =
                    "An EncryptionConfiguration (apiserver.config.k8s.io/v1) with the providers aesgcm and identity."
                            + " It names the resources to encrypt in the store, and the keys. Default: no"
                            + " encryption.")
    public Optional<Path> file = Optional.empty();

    @Override
    public void check(Faults faults) {
        if (file.isEmpty()) {
            return;
        }
        try {
            read().faults().forEach(fault -> faults.require(false, FLAG + " " + file.get() + ": " + fault));
        } catch (IOException e) {
            faults.require(false, FLAG + ": " + FileErrors.text(e));
        }
    }

    /** The transformer. Call it only after {@link #check} found no fault. */
    public ValueTransformer transformer() throws IOException {
        return file.isPresent() ? read().transformer() : ValueTransformer.IDENTITY;
    }

    private EncryptionConfiguration.Result read() throws IOException {
        return EncryptionConfiguration.parse(
                SmallFiles.text(file.orElseThrow()), StoredResources::name, Randoms.secure());
    }
}
