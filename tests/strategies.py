"""Hypothesis strategies for what the tests of this project draw at random."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from threeup_env.cards import COLORS, KINDS, MAX_COPIES, NAMED_DECKS
from threeup_env.rules import Rules


@st.composite
def custom_decks(draw: st.DrawFn, colors: tuple[str, ...] = COLORS, min_cards: int = 0) -> dict[str, int]:
    """A custom deck that holds at least `min_cards` cards of `colors`, at most 7 of a kind (1.4).

    Cards of other colours, which `Rules` leaves out, occur too, in any number.
    """
    copies = draw(st.lists(st.integers(0, MAX_COPIES), min_size=len(KINDS), max_size=len(KINDS)))
    first = draw(st.integers(0, len(KINDS) - 1))
    for step in range(len(KINDS)):
        k = (first + step) % len(KINDS)
        copies[k] += min(MAX_COPIES - copies[k], max(0, min_cards - sum(copies)))
    left_out = draw(st.integers(0, 2 * MAX_COPIES))
    deck = {color + kind: left_out for kind in KINDS for color in COLORS if color not in colors}
    for kind, count in zip(KINDS, copies, strict=True):
        for color in colors[1:]:
            deck[color + kind] = draw(st.integers(0, count))
            count -= deck[color + kind]
        deck[colors[0] + kind] = count
    return deck


@st.composite
def rules_strategy(draw: st.DrawFn, /, **fixed: Any) -> Rules:
    """Whole `Rules`, every switch at random together, except those in `fixed`.

    Matches have few deals and `max_decisions` is at most its default, so that a test can play them out; fix
    these switches to have more.
    """

    def choose(name: str, values: st.SearchStrategy[Any]) -> Any:
        return fixed[name] if name in fixed else draw(values)

    def fits(sizes: tuple[int, int, int]) -> bool:
        """Whether the fixed deck, if there is one, is enough for players, table cards and hand."""
        players, table_cards, hand_size = sizes
        deck = fixed.get("deck", {})
        counts = NAMED_DECKS[deck] if isinstance(deck, str) else deck
        held = sum(count for card, count in counts.items() if card[0] in colors)
        return "deck" not in fixed or held >= players * (2 * table_cards + hand_size)

    colors = choose("colors", st.sets(st.sampled_from(COLORS), min_size=1).map(sorted))
    colors = tuple(color for color in COLORS if color in colors)
    sizes = st.tuples(
        *(
            st.just(fixed[name]) if name in fixed else st.integers(low, high)
            for name, low, high in (("num_players", 2, 6), ("table_cards", 1, 3), ("hand_size", 1, 6))
        )
    )
    num_players, table_cards, hand_size = draw(sizes.filter(fits))
    min_cards = num_players * (2 * table_cards + hand_size)
    named = [
        name
        for name, counts in NAMED_DECKS.items()
        if sum(count for card, count in counts.items() if card[0] in colors) >= min_cards
    ]
    decks = custom_decks(colors=colors, min_cards=min_cards)
    deck = choose("deck", st.sampled_from(named) | decks if named else decks)
    rounds = choose("rounds", st.just(1) if fixed.get("play_on") else st.integers(1, 3))
    return Rules(
        num_players=num_players,
        deck=deck,
        colors=colors,
        table_cards=table_cards,
        hand_size=hand_size,
        first_player=choose("first_player", st.just("random") | st.integers(0, num_players - 1)),
        must_play=choose("must_play", st.booleans()),
        clear_sets=choose("clear_sets", st.booleans()),
        failed_flip=choose("failed_flip", st.sampled_from(["hand", "stay"])),
        extra_draw=choose("extra_draw", st.sampled_from(["one", "refill", "none"])),
        draw_before=choose("draw_before", st.sampled_from(["first", "each"])),
        extra_mandatory=choose("extra_mandatory", st.booleans()),
        low_third=choose("low_third", st.sampled_from(["stays", "taken"])),
        play_on=choose("play_on", st.booleans() if rounds == 1 else st.just(False)),
        reverse_ones=choose("reverse_ones", st.booleans()),
        color_swap=choose("color_swap", st.booleans()),
        pile_swaps=choose("pile_swaps", st.integers(0, 15)),
        sabotage=choose("sabotage", st.booleans()),
        rounds=rounds,
        score_table_cards=choose("score_table_cards", st.booleans()),
        max_decisions=choose("max_decisions", st.integers(1, 300) | st.just(1000)),
        at_limit=choose("at_limit", st.sampled_from(["points", "truncate"])),
    )
