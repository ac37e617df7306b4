"""Mutation tests: what privacy rests on, broken on purpose, and the tests that notice."""
