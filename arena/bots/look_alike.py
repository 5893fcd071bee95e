"""Which names of bots look alike, so that nobody takes an impostor's line in a table for that of somebody else.

Two names are compared by what is left when all that a reader easily misses is taken away: case, widths and styles of
letters (Unicode's form NFKC), letters of other alphabets that are drawn as Latin ones, and what is one stroke in most
fonts (`l`, `I`, `1`). It is the idea of a skeleton in Unicode Technical Standard 39, section 4
(https://www.unicode.org/reports/tr39/), with a table of the alphabets that are used to deceive, and no more: who has
letters of yet another alphabet is seen for it by most readers.
"""

import unicodedata
from collections.abc import Iterable

_DRAWN_AS = {
    "-": "\u00ad\u02d7\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500\u30fc\u4e00",
    "'": "\u2018\u2019\u02b9\u02bc\u055a\u0060",
    ".": "\u00b7\u2219\u22c5\u30fb",
    "_": "\u02cd\u2017",
    "i": "\u0131\u03b9\u0456\u2c93",
    "l": "1I|\u0399\u0406\u04c0\u04cf\u01c0\u2223\u2c92\ua4f2",
    "o": "0\u039f\u03bf\u041e\u043e\u0555\u0585\u0ed0\u2c9e\u2c9f\ua4f3\u1d0f",
    "a": "\u0251\u0391\u03b1\u0410\u0430\u13aa\ua4ee\u1d00",
    "b": "\u0392\u0412\u13f4\u15f7\ua4d0\u0299",
    "c": "\u03f2\u03f9\u0421\u0441\u13df\u216d\u2ca4\u2ca5\ua4da\u1d04",
    "d": "\u0501\u13a0\u15de\ua4d3\u1d05",
    "e": "\u0395\u0415\u0435\u04bd\u13ac\ua4f0\u1d07",
    "f": "\u03dc\u15b4\ua4dd\u0584",
    "g": "\u0261\u050c\u13c0\u0581\ua4d6\u0262",
    "h": "\u0397\u041d\u04bb\u0570\u13bb\u157c\ua4e7\u2c8e\u029c",
    "j": "\u03f3\u0408\u0458\u037f\u13ab\ua4d9\u1d0a",
    "k": "\u039a\u03ba\u041a\u043a\u13e6\ua4d7\u2c94\u1d0b",
    "m": "\u039c\u041c\u13b7\ua4df\u2c98\u1d0d",
    "n": "\u039d\u0578\u057c\ua4e0\u2c9a\u0274",
    "p": "\u03a1\u03c1\u0420\u0440\u13e2\ua4d1\u2ca2\u2ca3\u1d18",
    "q": "\u051b\u0566",
    "r": "\u0433\u13a1\u13d2\ua4e3\u0280",
    "s": "\u0405\u0455\u0575\u13da\ua4e2\ua731",
    "t": "\u03a4\u03c4\u0422\u0442\u13a2\ua4d4\u2ca6\u1d1b",
    "u": "\u03c5\u057d\ua4f4\u1d1c",
    "v": "\u03bd\u0474\u0475\u13d9\ua4e6\u1d20",
    "w": "\u03c9\u051c\u051d\u0461\u13b3\ua4ea\u1d21",
    "x": "\u03a7\u03c7\u0425\u0445\u2cac\u2cad\ua4eb",
    "y": "\u03a5\u03b3\u0423\u0443\u04ae\u04af\u13bd\ua4ec\u2ca8\u028f",
    "z": "\u0396\u13c3\ua4dc\u1d22",
}
"""What is drawn as each of these, or nearly: Greek, Cyrillic, Armenian, Cherokee, Coptic, Lisu and phonetic letters."""
_DRAWN = str.maketrans({letter: plain for plain, letters in _DRAWN_AS.items() for letter in letters})
_STROKES = (("rn", "m"), ("vv", "w"))
"""What looks like one letter where letters stand close."""


def alike(names: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of different names that look alike: each with the first that it looks like."""
    by_case: dict[str, str] = {}
    by_form: dict[str, str] = {}
    pairs = []
    for name in dict.fromkeys(names):
        keys = [(by_case, unicodedata.normalize("NFKC", name).casefold()), (by_form, _skeleton(name))]
        first = next((seen[key] for seen, key in keys if key in seen), None)
        for seen, key in keys:
            seen.setdefault(key, name)
        if first is not None:
            pairs.append((first, name))
    return pairs


def alike_lines(names: Iterable[str]) -> list[str]:
    """A line for each such pair, which names the letters that are not what they look like."""
    return [
        f"{one} and {other}: two bots, of names that look alike{_foreign(one, other)}" for one, other in alike(names)
    ]


def _skeleton(name: str) -> str:
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).translate(_DRAWN).casefold())
    for strokes, letter in _STROKES:
        text = text.replace(strokes, letter)
    return text


def _foreign(one: str, other: str) -> str:
    """Which letters of the names are drawn as Latin ones and are none; nothing if there are none."""
    found = [
        f"U+{ord(letter):04X} ({unicodedata.name(letter, 'without a name').lower()}) in {whose}"
        for name, whose in ((one, "the first"), (other, "the second"))
        for letter in dict.fromkeys(name)
        if not letter.isascii() and letter not in (other if name is one else one)
    ]
    return f", with {' and '.join(found)}" if found else ""
