package dev.space.model;

/** A typed id: its kind is in the type and in the prefix of its text. */
public sealed interface Id permits SessionId, OperationId, SnapshotId, ProjectId, OrganisationId {

    /** The id as it appears in the API, in rows and in file names. */
    String value();
}
