package dev.space.vault;

import dev.space.model.Secret;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The ids of an AppRole. Who asks for one closes it. */
interface VaultIds {

    long ID_BYTES_MAX = 4096;

    Secret roleId();

    Secret secretId();

    /** What somebody does when the vault refuses them. */
    String remedy();

    /** Ids in files, which are read at each log-in, so that they can be changed. */
    static VaultIds inFiles(Path roleIdFile, Path secretIdFile) {
        return new VaultIds() {
            @Override
            public Secret roleId() {
                return read("role id", roleIdFile);
            }

            @Override
            public Secret secretId() {
                return read("secret id", secretIdFile);
            }

            @Override
            public String remedy() {
                return "make a new secret id for the role and write it to the file that the"
                        + " settings name";
            }
        };
    }

    private static Secret read(String name, Path file) {
        try {
            if (Files.size(file) <= ID_BYTES_MAX) {
                return Secret.ofText(name, Files.readString(file).strip());
            }
        } catch (IOException unreadable) {
            throw new VaultFailure(
                    VaultFault.MISCONFIGURED, name + ": " + file + " cannot be read");
        }
        throw new VaultFailure(VaultFault.MISCONFIGURED, name + ": " + file + " is too long");
    }
}
