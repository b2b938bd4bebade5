package dev.space.model.lifecycle;

import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import dev.space.model.lifecycle.Decision.Already;
import dev.space.model.lifecycle.Decision.Cancel;
import dev.space.model.lifecycle.Decision.Go;
import dev.space.model.lifecycle.Decision.Join;
import dev.space.model.lifecycle.Decision.Refuse;
import dev.space.model.lifecycle.Decision.Supersede;
import dev.space.model.lifecycle.Decision.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One cell: branches that hold under a fact, tried in order, and what is decided otherwise.
 *
 * @param branches empty for a cell without conditions
 */
public record Cell(List<Branch> branches, Decision otherwise) {

    /** One condition of a cell. */
    public record Branch(Fact when, Decision then) {}

    public Cell {
        branches = List.copyOf(branches);
    }

    Decision decide(Set<Fact> facts) {
        return branches.stream()
                .filter(b -> facts.contains(b.when()))
                .map(Branch::then)
                .findFirst()
                .orElse(otherwise);
    }

    /** Everything this cell can decide. */
    public Stream<Decision> outcomes() {
        return Stream.concat(branches.stream().map(Branch::then), Stream.of(otherwise));
    }

    /** This cell, with one more condition tried before all others. */
    Cell when(Fact fact, Decision then) {
        List<Branch> more = new ArrayList<>();
        more.add(new Branch(fact, then));
        more.addAll(branches);
        return new Cell(more, otherwise);
    }

    static Cell go(OperationKind kind) {
        return new Cell(List.of(), new Go(kind));
    }

    static Cell already() {
        return new Cell(List.of(), new Already());
    }

    static Cell join() {
        return new Cell(List.of(), new Join());
    }

    static Cell waits() {
        return new Cell(List.of(), new Wait());
    }

    static Cell supersede() {
        return new Cell(List.of(), new Supersede(OperationKind.DESTROY));
    }

    static Cell refuse(ErrorCode code) {
        return new Cell(List.of(), new Refuse(code));
    }

    /** The table turns it into Wait where the transfer can no longer be cancelled. */
    static Cell cancel() {
        return new Cell(List.of(), new Cancel());
    }

    /** As docs/lifecycle.md shows it. */
    public String text() {
        StringBuilder out = new StringBuilder();
        for (Branch branch : branches) {
            out.append(text(branch.then())).append(" if ").append(branch.when().text());
            out.append(", else ");
        }
        return out.append(text(otherwise)).toString();
    }

    private static String text(Decision decision) {
        return switch (decision) {
            case Go(OperationKind kind) -> "→ " + kind;
            case Already _ -> "=";
            case Join _ -> "J";
            case Wait _ -> "W";
            case Cancel _ -> "C";
            case Supersede _ -> "S";
            case Refuse(ErrorCode code) -> "✗ " + code;
        };
    }
}
