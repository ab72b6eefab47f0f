"""The load of other programs, by clocks that the test turns."""

from __future__ import annotations

import pytest

from second_brain.index.embedding.other_load import OtherLoad


class Machine:
    """A machine whose load average counts this process and `others` threads besides."""

    def __init__(self, others: float) -> None:
        self.others = others
        self.now = 0.0
        self.used = 0.0
        self.average = others

    def run(self, seconds: float, own: float) -> None:
        """This process uses `own` of a core for so long; the average moves as the kernel's does."""
        for _ in range(int(seconds)):
            self.now += 1.0
            self.used += own
            self.average += (own + self.others - self.average) / 60


def _watched(machine: Machine) -> OtherLoad:
    return OtherLoad(lambda: machine.average, lambda: machine.used, lambda: machine.now)


@pytest.mark.parametrize("others", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("own", [0.0, 0.8, 2.0])
def test_what_this_process_does_itself_is_no_load(others: float, own: float) -> None:
    machine = Machine(others)
    load = _watched(machine)
    for seconds in (1, 20, 60, 3, 200):
        machine.run(seconds, own)
        assert load.threads() == pytest.approx(others, abs=0.1)


def test_what_others_begin_is_seen_although_this_process_works() -> None:
    machine = Machine(0.0)
    load = _watched(machine)
    machine.run(120, 1.5)
    machine.others = 2.0
    machine.run(60, 1.5)
    assert (load.threads() or 0) > 1.0


def test_a_rest_is_not_taken_for_less_than_nothing() -> None:
    machine = Machine(0.0)
    load = _watched(machine)
    machine.run(30, 2.0)
    machine.average = 0.0
    assert load.threads() == 0.0
    assert load.threads() == 0.0


def test_where_the_system_tells_no_load_it_is_unknown() -> None:
    assert OtherLoad(lambda: None).threads() is None
