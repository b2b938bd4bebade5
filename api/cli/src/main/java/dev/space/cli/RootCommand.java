package dev.space.cli;

import dev.space.cli.command.AuditCommand;
import dev.space.cli.command.BenchCommand;
import dev.space.cli.command.ChangesCommand;
import dev.space.cli.command.CreateCommand;
import dev.space.cli.command.CredentialCommand;
import dev.space.cli.command.CustomerKeyCommand;
import dev.space.cli.command.DestroyCommand;
import dev.space.cli.command.DoctorCommand;
import dev.space.cli.command.DownCommand;
import dev.space.cli.command.ExecCommand;
import dev.space.cli.command.ForkCommand;
import dev.space.cli.command.GetCommand;
import dev.space.cli.command.GrantCommand;
import dev.space.cli.command.LifecycleCommand;
import dev.space.cli.command.ListCommand;
import dev.space.cli.command.LogsCommand;
import dev.space.cli.command.NetworkCommand;
import dev.space.cli.command.NodeCommand;
import dev.space.cli.command.PolicyCommand;
import dev.space.cli.command.RestoreCommand;
import dev.space.cli.command.RevokeCommand;
import dev.space.cli.command.RollbackCommand;
import dev.space.cli.command.RunCommand;
import dev.space.cli.command.SnapshotCommand;
import dev.space.cli.command.SnapshotFilesCommand;
import dev.space.cli.command.SnapshotsCommand;
import dev.space.cli.command.StatusCommand;
import dev.space.cli.command.SuperviseCommand;
import dev.space.cli.command.UpCommand;
import dev.space.cli.command.WarmUpCommand;
import picocli.CommandLine.Command;

/** The root of the command tree. Its own help is the launcher's, which needs no build. */
@Command(
        name = "space",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "Durable sessions for AI agents on disposable microVMs.",
        subcommands = {
            RunCommand.class,
            UpCommand.class,
            DownCommand.class,
            StatusCommand.class,
            LogsCommand.class,
            NodeCommand.class,
            DoctorCommand.class,
            BenchCommand.class,
            CreateCommand.class,
            ListCommand.class,
            GetCommand.class,
            ExecCommand.class,
            LifecycleCommand.Pause.class,
            LifecycleCommand.Resume.class,
            LifecycleCommand.Checkpoint.class,
            LifecycleCommand.Suspend.class,
            RestoreCommand.class,
            LifecycleCommand.Recover.class,
            SnapshotsCommand.class,
            PolicyCommand.class,
            SnapshotCommand.class,
            SnapshotFilesCommand.class,
            ChangesCommand.class,
            ForkCommand.class,
            NetworkCommand.class,
            AuditCommand.class,
            CredentialCommand.class,
            CustomerKeyCommand.class,
            GrantCommand.class,
            RevokeCommand.class,
            RollbackCommand.class,
            DestroyCommand.class,
            SuperviseCommand.class,
            WarmUpCommand.class
        })
final class RootCommand {}
