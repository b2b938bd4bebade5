package dev.space.cli.command;

import dev.space.cli.doctor.Doctor;
import dev.space.cli.doctor.Finding;
import dev.space.cli.platform.Platform;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = "Checks this machine and names the command that mends each fault.")
public final class DoctorCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Override
    public Integer call() {
        Platform platform = options.platform();
        boolean good = true;
        for (Doctor.Check check : new Doctor(platform).checks()) {
            Finding finding = check.look();
            System.out.printf("%-5s %-13s %s%n", finding.level(), check.name(), finding.text());
            if (!finding.mend().isEmpty()) {
                System.out.printf("      %-13s mend: %s%n", "", finding.mend());
            }
            good &= finding.level() != Finding.Level.FAULT;
        }
        return good ? 0 : 1;
    }
}
