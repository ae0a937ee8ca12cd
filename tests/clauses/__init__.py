"""One file for each section of docs/rules.md; tests are named after the clause they state."""
