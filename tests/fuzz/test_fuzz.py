"""The short form of fuzzing: every input of the corpora, and some hundreds made of them, always the same ones."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.mutation import mutate
from tests.fuzz.run import CORPUS, check, read_corpus
from tests.fuzz.targets import TARGETS

INPUTS = 400


def test_every_target_has_a_corpus() -> None:
    assert {path.name for path in CORPUS.iterdir()} == TARGETS.keys()


@pytest.mark.parametrize("name", TARGETS)
def test_corpus(name: str) -> None:
    for data in read_corpus(name):
        check(TARGETS[name], data)


@pytest.mark.parametrize("name", TARGETS)
def test_mutations(name: str) -> None:
    corpus, chance = read_corpus(name), random.Random(name)
    for _ in range(INPUTS):
        data = mutate(corpus, chance)
        try:
            check(TARGETS[name], data)
        except BaseException as error:
            error.add_note(f"the input was {data!r}")
            raise
