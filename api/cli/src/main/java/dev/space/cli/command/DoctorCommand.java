package dev.space.cli.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.space.cli.doctor.Doctor;
import dev.space.cli.doctor.Finding;
import dev.space.cli.platform.Json;
import dev.space.cli.platform.Platform;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = "Checks this machine and names the command that mends each fault.")
public final class DoctorCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Option(names = "--json", description = "One object a line: check, level, text, mend.")
    boolean json;

    /** A finding as JSON. */
    record Line(String check, Finding.Level level, String text, String mend) {}

    @Override
    public Integer call() throws Exception {
        Platform platform = options.platform();
        boolean good = true;
        for (Doctor.Check check : new Doctor(platform).checks()) {
            Finding finding = check.look();
            print(check.name(), finding);
            good &= finding.level() != Finding.Level.FAULT;
        }
        if (!json) {
            System.out.println(good ? "\nno fault found" : "\nmend each FAULT above");
        }
        return good ? 0 : 1;
    }

    private void print(String check, Finding finding) throws JsonProcessingException {
        if (json) {
            Line line = new Line(check, finding.level(), finding.text(), finding.mend());
            System.out.println(Json.MAPPER.writeValueAsString(line));
            return;
        }
        System.out.printf("%-5s %-13s %s%n", finding.level(), check, finding.text());
        if (!finding.mend().isEmpty()) {
            System.out.printf("      %-13s mend: %s%n", "", finding.mend());
        }
    }
}
