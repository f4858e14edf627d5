"""What a line of a person says: a number, yes or no. None where that is not plain.

"about 60 people" is 60 and "no, thanks" is no; "8 of 10", "less than 5" and "I suppose" are none.
"""

from __future__ import annotations

import re

from statecli.model.guard import as_number, fold

YES = frozenset({
    "yes", "y", "true", "on", "1", "yep", "yeah", "yup", "sure", "ok", "okay", "yes please",
    "yes i do", "yes i am", "yes it is", "yes it does", "of course", "certainly", "definitely",
    "absolutely", "agreed", "i agree", "thats right", "correct",
})  # fmt: skip
NO = frozenset({
    "no", "n", "false", "off", "0", "nope", "nah", "no thanks", "no thank you", "no i dont",
    "no i am not", "no its not", "not yet", "not at all", "never", "certainly not",
})  # fmt: skip

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {word: number for number, word in enumerate(_SMALL)} | {
    word: 10 * number for number, word in enumerate(_TENS, 2)
}
#: A number with a sign for money before it, or a unit right behind it.
_TOKEN = re.compile(r"[$€£¥~]?([+-]?\d+(?:\.\d+)?)([^\W\d_]{1,4}|[$€£¥%°]|)", re.ASCII)
#: What stands behind a number and makes another number, or an ordinal, of it.
_NOT_UNITS = frozenset({"k", "m", "b", "bn", "tn", "mio", "st", "nd", "rd", "th", "x", "e"})
#: What may stand before a number without changing it.
_FILLERS = frozenset({
    "about", "around", "roughly", "approximately", "approx", "circa", "ca", "only", "just",
    "exactly", "its", "it", "is", "im", "i", "am", "we", "are", "were", "the", "number", "have",
    "ive", "$", "€", "£", "¥", "eur", "usd", "gbp",
})  # fmt: skip
#: What may not stand behind it.
_CHANGERS = frozenset({
    "or", "to", "and", "not", "no", "point", "half", "quarter", "dozen", "hundred", "thousand",
    "million", "billion", "less", "more", "minus", "plus", "times", "of", "out", "than", "until",
})  # fmt: skip
#: What in another part of the sentence takes it back, or leaves it open.
_DOUBTS = frozenset({"or", "not", "no", "wait", "less", "more", "than", "maybe", "perhaps", "dont"})


def yes_or_no(line: str) -> bool | None:
    """Whether a line is a plain yes or a plain no."""
    words = " ".join(re.sub(r"[.,;:!]", " ", fold(line).replace("'", "").replace("’", "")).split())
    if words in YES:
        return True
    return False if words in NO else None


def number_in(line: str, about: str = "") -> float | None:
    """The one number that a line says, in digits or as a word, perhaps with a unit. The words of
    `about`, what it is the number of, may stand before it ("order 4711")."""
    plain = as_number(line)
    if plain is not None:
        return plain
    if len(line) > 200:
        return None
    clauses = [_words(clause) for clause in re.split(r"[,;.!?]\s", fold(line))]
    with_number = [clause for clause in clauses if any(map(_is_numeric, clause))]
    if len(with_number) != 1:
        return None
    others = {word for clause in clauses if clause is not with_number[0] for word in clause}
    if not others.isdisjoint(_DOUBTS):
        return None
    return _in_clause(with_number[0], _FILLERS.union(about.split()))


def _words(text: str) -> list[str]:
    bare = (word.strip(".,;:!?()") for word in text.replace("'", "").replace("’", "").split())
    return [word for word in bare if word]


def _is_numeric(word: str) -> bool:
    return word in _WORDS or any(sign.isdigit() for sign in word)


def _in_clause(words: list[str], fillers: frozenset[str]) -> float | None:
    """The number of a clause: nothing but fillers before it, and nothing behind it that would make
    another one of it."""
    found: float | None = None
    behind = 0
    for word in words:
        number = _number(word)
        if number is not None:
            if found is not None:
                return None
            found = number
        elif _is_numeric(word) or (found is None and word not in fillers):
            return None
        elif found is not None:
            behind += 1
            if behind > 5 or word in _CHANGERS or word in "+-*/":
                return None
    return found


def _number(word: str) -> float | None:
    if word in _WORDS:
        return _WORDS[word]
    match = _TOKEN.fullmatch(word)
    if match is None or match.group(2) in _NOT_UNITS:
        return None
    return as_number(match.group(1))
